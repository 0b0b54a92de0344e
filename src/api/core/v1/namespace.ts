/**
 * core/v1 Namespace: the scope within which the names of most objects are unique.
 *
 * A Namespace is deleted in two steps: it enters phase Terminating, and stays until every finalizer in `spec.finalizers` has been removed
 * through /finalize. So every new Namespace has the finalizer "kubernetes" of the controller that deletes its contents, and writes of the
 * object itself keep the list. Not here: deletion of the contents (controllers/namespace).
 */
import { validateStandardFinalizer } from "../../machinery/metadata-validation.ts";
import { errorsOf } from "../../machinery/findings.ts";
import type { Namespace } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { element, invalid, type FieldError } from "../../machinery/field-error.ts";
import { validateDnsLabel, validateQualifiedName } from "../../machinery/names.ts";
import { ALL_VERBS, defineResource } from "../../machinery/resource.ts";
import { withChanges } from "../../changes.ts";

const KUBERNETES_FINALIZER = "kubernetes";
/** Finalizers of Kubernetes itself, without a domain. */

/** Namespace selectors match labels only, so each Namespace carries its name as one. */
const NAME_LABEL = "kubernetes.io/metadata.name";

export const namespaces = defineResource<Namespace>({
  kind: "Namespace",
  plural: "namespaces",
  singular: "namespace",
  shortNames: ["ns"],
  scope: "Cluster",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Namespace", defaults: withNameLabel }],
  // A single request must not be able to delete everything.
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
    // Upstream reports the list and not the item here, unlike for /finalize.
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
  columns: [nameColumn, textColumn("Status", "Phase: Active or Terminating", (namespace) => namespace.status?.phase ?? ""), ageColumn],
});

/** The phase of an active Namespace may be omitted in a status write. */
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
  yield* errorsOf((errors) => validateStandardFinalizer(errors, name, field));
}

/** The phase must agree with `deletionTimestamp`, or clients that read only one of them would be misled. */
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
