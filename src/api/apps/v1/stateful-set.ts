/**
 * apps/v1 StatefulSet: a number of Pods of a template, each with a stable name and storage. What defines a Pod's identity is immutable: the
 * selector, the Service, the claims. Not here: the controller (controllers/stateful-set).
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges, withMembersOf } from "../../changes.ts";
import { claimSpecWarnings } from "../../core/v1/persistent-volume-claim/warnings.ts";
import { defaultPodTemplate } from "../../core/v1/pod/defaults/pod.ts";
import { podTemplateWarnings } from "../../core/v1/pod/warnings/pod.ts";
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from "../../generated/apps/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { claimTemplatesOf, withDefaultClaims } from "./stateful-set-claims.ts";
import { validateSpec, validateSpecUpdate, validateStatus } from "./stateful-set-validation.ts";
import { containerColumns, scaleSubresource, statusSubresource } from "./workload.ts";
import { warningsOf } from "../../machinery/findings.ts";

const REVISION_HISTORY_LIMIT = 10;
const NO_STATUS: StatefulSetStatus = { replicas: 0, availableReplicas: 0 };

export const statefulSets = defineResource<StatefulSet>({
  kind: "StatefulSet",
  plural: "statefulsets",
  singular: "statefulset",
  shortNames: ["sts"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "apps", version: "v1", schema: "io.k8s.api.apps.v1.StatefulSet", defaults: defaultStatefulSet }],

  prepareForCreate: (statefulSet) => ({ ...statefulSet, status: NO_STATUS }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration,

  // Its Pods are named after it, and their names are host names.
  validateName: validateDnsLabel,
  *validate({ spec }, previous) {
    if (spec === undefined) return;
    yield* validateSpec(spec, previous?.spec);
    if (previous?.spec !== undefined) yield* validateSpecUpdate(spec, previous.spec);
  },
  warnings: statefulSetWarnings,

  subresources: { scale: scaleSubresource(), status: statusSubresource(validateStatus) },

  columns: [
    nameColumn,
    textColumn("Ready", "Ready Pods of all", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
    ageColumn,
    ...containerColumns<StatefulSet>(({ spec }) => spec?.template),
  ],
});

function defaultStatefulSet(statefulSet: StatefulSet): StatefulSet {
  return withChanges(statefulSet, { spec: changed(statefulSet.spec, defaultSpec) });
}

function defaultSpec(spec: StatefulSetSpec): StatefulSetSpec {
  return withChanges(withDefaultClaims(spec), {
    podManagementPolicy: spec.podManagementPolicy || "OrderedReady",
    updateStrategy: defaultUpdateStrategy(spec.updateStrategy ?? {}),
    persistentVolumeClaimRetentionPolicy: defaultRetention(spec.persistentVolumeClaimRetentionPolicy ?? {}),
    replicas: spec.replicas ?? 1,
    revisionHistoryLimit: spec.revisionHistoryLimit ?? REVISION_HISTORY_LIMIT,
    template: changed(spec.template, defaultPodTemplate),
  });
}

/** A strategy without parameters gets none. */
function defaultUpdateStrategy(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
  const { type, rollingUpdate = type ? undefined : {} } = strategy;
  if (type && type !== "RollingUpdate") return strategy;
  return withChanges(strategy, { type: "RollingUpdate", rollingUpdate: changed(rollingUpdate, defaultRollingUpdate) });
}

/** `maxUnavailable` has no default: without it, the order of updates is that of upstream's defaults (controllers/stateful-set/plan.ts). */
function defaultRollingUpdate(rollingUpdate: RollingUpdateStatefulSetStrategy): RollingUpdateStatefulSetStrategy {
  return withChanges(rollingUpdate, { partition: rollingUpdate.partition ?? 0 });
}

function defaultRetention(policy: StatefulSetPersistentVolumeClaimRetentionPolicy): StatefulSetPersistentVolumeClaimRetentionPolicy {
  return withChanges(policy, { whenDeleted: policy.whenDeleted || "Retain", whenScaled: policy.whenScaled || "Retain" });
}

function changesGeneration(next: StatefulSet, previous: StatefulSet): boolean {
  return !deepEqual(next.spec, previous.spec);
}

function* statefulSetWarnings(statefulSet: StatefulSet, previous?: StatefulSet): Iterable<string> {
  const { spec } = statefulSet;
  if (spec === undefined) return;
  if (previous === undefined || changesGeneration(statefulSet, previous))
    yield* warningsOf((warnings) => podTemplateWarnings(warnings, spec.template, "spec.template"));
  for (const [index, claim] of (claimTemplatesOf(spec) ?? []).entries()) {
    // Upstream omits "spec" on create, and capitalizes it on update.
    yield* claimSpecWarnings(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}]${previous === undefined ? "" : ".Spec"}`);
  }
  if ((spec.revisionHistoryLimit ?? 0) < 0) {
    yield "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";
  }
}
