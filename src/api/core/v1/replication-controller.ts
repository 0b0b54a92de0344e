/**
 * core/v1 ReplicationController: the predecessor of ReplicaSet. Its selector supports equality only, and defaults to the template's labels.
 * Not here: the controller (controllers/replication-controller).
 */
import { deepEqual } from "../../../base/deep.ts";
import { validateReplicaCounts } from "../../apps/v1/replica-counts.ts";
import {
  containerColumns,
  labelsMissed,
  nameWarnings,
  selectorColumn,
  statusSubresource,
  validateEndless,
} from "../../apps/v1/workload.ts";
import { changed, withChanges, withMembersOf } from "../../changes.ts";
import type { PodTemplateSpec, ReplicationController, ReplicationControllerSpec } from "../../generated/core/v1.ts";
import { ageColumn, formatLabels, nameColumn, textColumn } from "../../machinery/columns.ts";
import { invalid, notFoundField, required, type FieldError } from "../../machinery/field-error.ts";
import { warningsOf, errorsOf } from "../../machinery/findings.ts";
import { labelSelectorFromLabels } from "../../machinery/selectors/label-selector.ts";
import { validateLongName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { nonNegative } from "../../number-validation.ts";
import { defaultPodTemplate } from "./pod/defaults/pod.ts";
import { validatePodTemplateSpec } from "./pod/validation/template.ts";
import { podTemplateWarnings } from "./pod/warnings/pod.ts";

export const replicationControllers = defineResource<ReplicationController>({
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  singular: "replicationcontroller",
  shortNames: ["rc"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.ReplicationController", defaults: defaultController }],
  // Its Pods are orphaned by default, as before there was a choice.
  defaultPropagation: "Orphan",

  prepareForCreate: (controller) => ({ ...controller, status: { replicas: 0 } }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration,

  validateName: validateLongName,
  *validate(controller, previous) {
    if (controller.spec !== undefined) yield* validateSpec(controller.spec, previous?.spec);
    if (previous !== undefined) yield* validateConvertible(controller, previous);
  },
  *warnings(controller, previous) {
    if (previous === undefined) yield* nameWarnings(controller.metadata.name);
    else if (!changesGeneration(controller, previous)) return;
    // On update upstream validates the previous template.
    const template = (previous ?? controller).spec?.template;
    if (template !== undefined) yield* warningsOf((warnings) => podTemplateWarnings(warnings, template, "spec.template"));
  },

  subresources: {
    scale: {
      of: "scale",
      verbs: ["get", "patch", "update"],
      replicasPath: ["spec", "replicas"],
      read: ({ spec, status }) => ({
        specReplicas: spec?.replicas ?? 0,
        statusReplicas: status?.replicas ?? 0,
        selector: labelSelectorFromLabels(spec?.selector).toString(),
      }),
      write: (object, replicas) => (object.spec?.replicas === replicas ? object : { ...object, spec: { ...object.spec, replicas } }),
    },
    status: statusSubresource<ReplicationController>(validateReplicaCounts),
  },

  selectableFields: { "status.replicas": ({ status }) => String(status?.replicas ?? 0) },
  columns: [
    nameColumn,
    textColumn("Desired", "Desired number of Pods", ({ spec }) => spec?.replicas ?? 0, { type: "integer" }),
    textColumn("Current", "Current number of Pods", ({ status }) => status?.replicas ?? 0, { type: "integer" }),
    textColumn("Ready", "Number of ready Pods", ({ status }) => status?.readyReplicas ?? 0, { type: "integer" }),
    ageColumn,
    ...containerColumns<ReplicationController>(({ spec }) => spec?.template),
    selectorColumn<ReplicationController>(({ spec }) => formatLabels(spec?.selector)),
  ],
});

function defaultController(controller: ReplicationController): ReplicationController {
  const labels = controller.spec?.template?.metadata?.labels;
  const isLabelled = Object.keys(controller.metadata.labels ?? {}).length > 0;
  const metadata = labels === undefined || isLabelled ? undefined : { ...controller.metadata, labels };
  return withChanges(controller, { metadata, spec: changed(controller.spec, defaultSpec) });
}

function defaultSpec(spec: ReplicationControllerSpec): ReplicationControllerSpec {
  const { selector = {}, template, replicas = 1 } = spec;
  const selectsAll = Object.keys(selector).length === 0;
  return withChanges(spec, {
    replicas,
    selector: selectsAll ? template?.metadata?.labels : undefined,
    template: changed(template, defaultPodTemplate),
  });
}

function changesGeneration(next: ReplicationController, previous: ReplicationController): boolean {
  return !deepEqual(next.spec, previous.spec);
}

function* validateSpec(spec: ReplicationControllerSpec, previous?: ReplicationControllerSpec): Iterable<FieldError> {
  const { selector = {}, template } = spec;
  yield* nonNegative(spec.minReadySeconds, "spec.minReadySeconds");
  if (Object.keys(selector).length === 0) yield required("spec.selector");
  if (spec.replicas === undefined) yield required("spec.replicas");
  yield* nonNegative(spec.replicas, "spec.replicas");
  if (template === undefined) yield required("spec.template");
  else yield* validateTemplate(template, selector, previous?.template);
}

function* validateTemplate(
  template: PodTemplateSpec,
  selector: Readonly<Record<string, string>>,
  previous?: PodTemplateSpec,
): Iterable<FieldError> {
  const at = "spec.template";
  const labels = template.metadata?.labels;
  if (!labelSelectorFromLabels(selector).matches(labels)) yield labelsMissed(labels, at);
  yield* errorsOf((errors) => validatePodTemplateSpec(errors, template, at, previous));
  yield* validateEndless(template, { at, kind: "ReplicationController" });
}

/** Lists fields of a ReplicaSet that a ReplicationController cannot express; only upstream's conversion ever set it. */
const NON_CONVERTIBLE = "non-convertible.kubernetes.io";

function* validateConvertible(next: ReplicationController, previous: ReplicationController): Iterable<FieldError> {
  for (const [key, value] of Object.entries(previous.metadata.annotations ?? {})) {
    const [domain = "", field = "", more] = key.split("/");
    if (!domain.startsWith(NON_CONVERTIBLE) || !key.includes("/") || more !== undefined) continue;
    if (!field.includes("selector")) {
      const { body, ...error } = notFoundField(field, value);
      yield { ...error, body: `${body}: unknown non-convertible field` };
    } else if (!deepEqual(next.spec?.selector, previous.spec?.selector)) {
      yield invalid("spec.selector", next.spec?.selector, "cannot update non-convertible selector");
    }
  }
}
