/**
 * apps/v1 ReplicaSet: a number of Pods of a template, usually created and scaled by a Deployment. Not here: the controller
 * (controllers/replica-set).
 */
import { deepEqual } from "../../../base/deep.ts";
import { withChanges } from "../../changes.ts";
import { defaultPodTemplate } from "../../core/v1/pod/defaults/pod.ts";
import { podTemplateWarnings } from "../../core/v1/pod/warnings/pod.ts";
import type { ReplicaSet, ReplicaSetSpec } from "../../generated/apps/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { formatLabelSelector } from "../../machinery/selectors/label-selector.ts";
import { defineResource } from "../../machinery/resource.ts";
import { nonNegative } from "../../number-validation.ts";
import { validateReplicaCounts } from "./replica-counts.ts";
import { nameWarnings, scaleSubresource, validateSameSelector, validateSelectorAndTemplate, workloadWideColumns } from "./workload.ts";
import { warningsOf } from "../../machinery/findings.ts";

export const replicaSets = defineResource<ReplicaSet>({
  kind: "ReplicaSet",
  plural: "replicasets",
  singular: "replicaset",
  shortNames: ["rs"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "apps", version: "v1", schema: "io.k8s.api.apps.v1.ReplicaSet", defaults: defaultReplicaSet }],

  prepareForCreate: (replicaSet) => ({ ...replicaSet, status: { replicas: 0 } }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),
  changesGeneration,

  *validate({ spec }, previous) {
    if (spec === undefined) return;
    yield* nonNegative(spec.replicas, "spec.replicas");
    yield* nonNegative(spec.minReadySeconds, "spec.minReadySeconds");
    yield* validateSelectorAndTemplate(spec, previous?.spec);
  },
  validateUpdate: validateSameSelector,
  *warnings(replicaSet, previous) {
    if (previous === undefined) yield* nameWarnings(replicaSet.metadata.name);
    else if (!changesGeneration(replicaSet, previous)) return;
    const template = replicaSet.spec?.template;
    if (template !== undefined) yield* warningsOf((warnings) => podTemplateWarnings(warnings, template, "spec.template"));
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withChanges(next, { spec: previous.spec }),
      validateUpdate: validateReplicaCounts,
    },
    scale: scaleSubresource(),
  },

  columns: [
    nameColumn,
    textColumn("Desired", "Desired number of Pods", ({ spec }) => spec?.replicas ?? 0, { type: "integer" }),
    textColumn("Current", "Current number of Pods", ({ status }) => status?.replicas ?? 0, { type: "integer" }),
    textColumn("Ready", "Number of ready Pods", ({ status }) => status?.readyReplicas ?? 0, { type: "integer" }),
    ageColumn,
    ...workloadWideColumns<ReplicaSet>(formatLabelSelector),
  ],
});

function defaultReplicaSet(replicaSet: ReplicaSet): ReplicaSet {
  const { spec } = replicaSet;
  return withChanges(replicaSet, { spec: spec === undefined ? undefined : defaultSpec(spec) });
}

function defaultSpec(spec: ReplicaSetSpec): ReplicaSetSpec {
  const { replicas = 1, template } = spec;
  return withChanges(spec, { replicas, template: template === undefined ? undefined : defaultPodTemplate(template) });
}

function changesGeneration(next: ReplicaSet, previous: ReplicaSet): boolean {
  return !deepEqual(next.spec, previous.spec);
}
