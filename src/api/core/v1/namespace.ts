/**
 * core/v1 Namespace: the scope within which the names of most objects are unique.
 *
 * A namespace is deleted in two steps: it goes into phase Terminating, and stays until everybody who is named in `spec.finalizers` has
 * taken himself off the list through /finalize. So every new namespace names "kubernetes", the controller that empties it, and writes
 * of the object itself keep the list as it is. Who empties it: controllers/namespace.
 */
import { validateStandardFinalizer } from "../../machinery/metadata-validation.ts";
import type { Namespace } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { element, invalid, type FieldError } from "../../machinery/field-error.ts";
import { validateDnsLabel, validateQualifiedName } from "../../machinery/names.ts";
import { ALL_VERBS, defineResource } from "../../machinery/resource.ts";
import { withChanges } from "../../changes.ts";

const KUBERNETES_FINALIZER = "kubernetes";
/** Names without a domain that are finalizers of Kubernetes itself. */

/** Selectors of namespaces match labels only, so each carries its name as one. */
const NAME_LABEL = "kubernetes.io/metadata.name";

export const namespaces = defineResource<Namespace>({
  kind: "Namespace",
  plural: "namespaces",
  singular: "namespace",
  shortNames: ["ns"],
  scope: "Cluster",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Namespace", defaults: withNameLabel }],
  // One request shall not be able to delete everything there is.
  verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  returnsDeletedObject: true,
  deletion: {
    begin: terminating,
    isPending: (namespace) => finalizersOf(namespace).length > 0,
  },

  // Only now is a generated name known.
  prepareForCreate: (namespace) => ({ ...withNameLabel(namespace), spec: withKubernetesFinalizer(namespace), status: { phase: "Active" } }),
  prepareForUpdate: (next, previous) => keepStatus(withFinalizersOf(previous, next), previous),

  validateName: validateDnsLabel,
  *validate(namespace) {
    // Upstream names the list and not the item here, unlike for /finalize.
    for (const name of finalizersOf(namespace)) yield* validateFinalizer(name, "spec.finalizers");
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withPhase(withChanges(next, { spec: previous.spec })),
      validateUpdate: validatePhase,
    },
    finalize: {
      of: "object",
      verbs: ["update"],
      prepareForUpdate: keepStatus,
      *validateUpdate(namespace) {
        for (const [index, name] of finalizersOf(namespace).entries()) yield* validateFinalizer(name, element("spec.finalizers", index));
      },
    },
  },

  selectableFields: { "status.phase": (namespace) => namespace.status?.phase ?? "" },
  columns: [nameColumn, textColumn("Status", "Whether it is in use or going", (namespace) => namespace.status?.phase ?? ""), ageColumn],
});

/** Who writes the status need not say the phase of a namespace that is in use. */
function withPhase(namespace: Namespace): Namespace {
  return (namespace.status?.phase ?? "") === "" ? { ...namespace, status: { ...namespace.status, phase: "Active" } } : namespace;
}

/** Without a name yet (generateName) there is nothing to label. */
function withNameLabel(namespace: Namespace): Namespace {
  const { name, labels } = namespace.metadata;
  if ((name ?? "") === "" || labels?.[NAME_LABEL] === name) return namespace;
  return { ...namespace, metadata: { ...namespace.metadata, labels: { ...labels, [NAME_LABEL]: name } } };
}

function finalizersOf(namespace: Namespace): readonly string[] {
  return namespace.spec?.finalizers ?? [];
}

function withKubernetesFinalizer(namespace: Namespace): NonNullable<Namespace["spec"]> {
  const finalizers = finalizersOf(namespace);
  return { ...namespace.spec, finalizers: finalizers.includes(KUBERNETES_FINALIZER) ? finalizers : [...finalizers, KUBERNETES_FINALIZER] };
}

function withFinalizersOf(previous: Namespace, next: Namespace): Namespace {
  if (next.spec === previous.spec) return next;
  const { finalizers: _, ...spec } = next.spec ?? {};
  const { finalizers } = previous.spec ?? {};
  return { ...next, spec: finalizers === undefined ? spec : { ...spec, finalizers } };
}

function keepStatus(next: Namespace, previous: Namespace): Namespace {
  return withChanges(next, { status: previous.status });
}

function terminating(namespace: Namespace): Namespace {
  return namespace.status?.phase === "Terminating" ? namespace : { ...namespace, status: { ...namespace.status, phase: "Terminating" } };
}

function* validateFinalizer(name: string, field: string): Iterable<FieldError> {
  for (const wrong of validateQualifiedName(name)) yield invalid(field, name, wrong);
  yield* validateStandardFinalizer(name, field);
}

/** The phase says the same as `deletionTimestamp`, or clients that look at one of them would be misled. */
function* validatePhase(namespace: Namespace): Iterable<FieldError> {
  const phase = namespace.status?.phase ?? "";
  const isDeleted = namespace.metadata.deletionTimestamp !== undefined;
  if (!isDeleted && phase !== "Active") {
    yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty");
  }
  if (isDeleted && phase !== "Terminating") {
    yield invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
  }
}
