/**
 * apps/v1 Deployment: a number of Pods of a template, replaced step by step when the template changes.
 *
 * Its annotations are copied to its ReplicaSets, so changing them changes the desired state: the generation increases. Not here: the
 * rollout (controllers/deployment).
 */
import { deepEqual } from "../../../base/deep.ts";
import { withChanges } from "../../changes.ts";
import { defaultPodTemplate } from "../../core/v1/pod/defaults/pod.ts";
import { podTemplateWarnings } from "../../core/v1/pod/warnings/pod.ts";
import type { Deployment, DeploymentSpec, DeploymentStatus } from "../../generated/apps/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { warningsOf } from "../../machinery/findings.ts";
import { defineResource } from "../../machinery/resource.ts";
import { nonNegative } from "../../number-validation.ts";
import { defaultStrategy, validateStrategy } from "./deployment-strategy.ts";
import { ROLLBACK_ANNOTATION, validateRollback, withReadableRollback } from "./deployment-rollback.ts";
import {
  nameWarnings,
  plainSelectorText,
  scaleSubresource,
  validateCollisionCount,
  validateSameSelector,
  validateSelectorAndTemplate,
  workloadWideColumns,
} from "./workload.ts";

const REVISION_HISTORY_LIMIT = 10;
const PROGRESS_DEADLINE_SECONDS = 600;

export const deployments = defineResource<Deployment>({
  kind: "Deployment",
  plural: "deployments",
  singular: "deployment",
  shortNames: ["deploy"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "apps", version: "v1", schema: "io.k8s.api.apps.v1.Deployment", defaults: defaultDeployment }],

  prepareForCreate: (deployment) => ({ ...deployment, status: {} }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),
  changesGeneration,

  *validate(deployment, previous) {
    if (deployment.spec !== undefined) yield* validateSpec(deployment.spec, previous?.spec);
    yield* validateRollback(deployment.metadata.annotations?.[ROLLBACK_ANNOTATION]);
  },
  validateUpdate: validateSameSelector,
  *warnings(deployment, previous) {
    if (previous === undefined) yield* nameWarnings(deployment.metadata.name);
    else if (!changesGeneration(deployment, previous)) return;
    const template = deployment.spec?.template;
    if (template !== undefined) yield* warningsOf((warnings) => podTemplateWarnings(warnings, template, "spec.template"));
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["spec"], ["metadata", "labels"]],
      // The labels are the client's: a controller that writes the status may have read older ones.
      prepareForUpdate: (next, previous) => withLabelsOf(previous, withChanges(next, { spec: previous.spec })),
      validateUpdate: validateStatus,
    },
    scale: scaleSubresource(),
  },

  columns: [
    nameColumn,
    textColumn("Ready", "Ready Pods of all", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
    textColumn("Up-to-date", "Number of Pods of the current template", ({ status }) => status?.updatedReplicas ?? 0),
    textColumn("Available", "Number of Pods that are ready for at least minReadySeconds", ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...workloadWideColumns<Deployment>(plainSelectorText),
  ],
});

function defaultDeployment(deployment: Deployment): Deployment {
  const { spec } = deployment;
  return withChanges(withReadableRollback(deployment), { spec: spec === undefined ? undefined : defaultSpec(spec) });
}

function defaultSpec(spec: DeploymentSpec): DeploymentSpec {
  return withChanges(spec, {
    replicas: spec.replicas ?? 1,
    strategy: defaultStrategy(spec.strategy ?? {}),
    revisionHistoryLimit: spec.revisionHistoryLimit ?? REVISION_HISTORY_LIMIT,
    progressDeadlineSeconds: spec.progressDeadlineSeconds ?? PROGRESS_DEADLINE_SECONDS,
    template: spec.template === undefined ? undefined : defaultPodTemplate(spec.template),
  });
}

function changesGeneration(next: Deployment, previous: Deployment): boolean {
  if (!deepEqual(next.spec, previous.spec)) return true;
  return !deepEqual(next.metadata.annotations ?? {}, previous.metadata.annotations ?? {});
}

function withLabelsOf(previous: Deployment, next: Deployment): Deployment {
  if (deepEqual(next.metadata.labels, previous.metadata.labels)) return next;
  const { labels: _, ...metadata } = next.metadata;
  const { labels } = previous.metadata;
  return { ...next, metadata: labels === undefined ? metadata : { ...metadata, labels } };
}

function* validateSpec(spec: DeploymentSpec, previous?: DeploymentSpec): Iterable<FieldError> {
  const { minReadySeconds = 0, progressDeadlineSeconds } = spec;
  yield* nonNegative(spec.replicas, "spec.replicas");
  yield* validateSelectorAndTemplate(spec, previous);
  yield* validateStrategy(spec.strategy ?? {}, "spec.strategy");
  yield* nonNegative(minReadySeconds, "spec.minReadySeconds");
  yield* nonNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit");
  if (progressDeadlineSeconds === undefined) return;
  yield* nonNegative(progressDeadlineSeconds, "spec.progressDeadlineSeconds");
  // The progress deadline must exceed minReadySeconds, or an available Pod would not count as progress.
  if (progressDeadlineSeconds <= minReadySeconds) {
    yield invalid("spec.progressDeadlineSeconds", progressDeadlineSeconds, "must be greater than minReadySeconds");
  }
}

const COUNTS = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "terminatingReplicas",
  "collisionCount",
] as const satisfies readonly (keyof DeploymentStatus)[];

function* validateStatus(next: Deployment, previous: Deployment): Iterable<FieldError> {
  const status = next.status ?? {};
  for (const count of COUNTS) yield* nonNegative(status[count], `status.${count}`);
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const part of ["updatedReplicas", "readyReplicas", "availableReplicas"] as const) {
    const count = status[part] ?? 0;
    if (count > replicas) yield invalid(`status.${part}`, count, "cannot be greater than status.replicas");
  }
  if (availableReplicas > readyReplicas) {
    yield invalid("status.availableReplicas", availableReplicas, "cannot be greater than readyReplicas");
  }
  yield* validateCollisionCount(status.collisionCount, previous.status?.collisionCount);
}
