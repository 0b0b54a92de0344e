/** Validation of a StatefulSet and of its updates. */
import { deepEqual } from "../../../base/deep.ts";
import { withMembersOf } from "../../changes.ts";
import { validateClaimSpec } from "../../core/v1/persistent-volume-claim/validate-spec.ts";
import { validatePodAnnotations } from "../../core/v1/pod/validation/annotations.ts";
import { validatePodTemplateSpec } from "../../core/v1/pod/validation/template.ts";
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from "../../generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import type { LabelSelector } from "../../generated/meta/v1.ts";
import { child, forbidden, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { validateLabelSelectorObject, type LabelSelector as CompiledSelector } from "../../machinery/selectors/label-selector.ts";
import { validateAnnotations, validateLabels } from "../../machinery/metadata-validation.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import { amountOf, validateAtMostAll, validateNumberOrPercent } from "../../number-or-percent.ts";
import { nonNegative } from "../../number-validation.ts";
import { claimTemplatesOf, podTemplateWithClaims } from "./stateful-set-claims.ts";
import { compileSelector, isEmptySelector, labelsMissed, shownSelector, validateCollisionCount, validateEndless } from "./workload.ts";

const TEMPLATE = "spec.template";

/** On update, immutable fields are not validated again. */
export function* validateSpec(spec: StatefulSetSpec, previous?: StatefulSetSpec): Iterable<FieldError> {
  const { serviceName = "" } = spec;
  yield* validatePodManagementPolicy(spec.podManagementPolicy ?? "");
  yield* validateUpdateStrategy(spec.updateStrategy ?? {}, "spec.updateStrategy");
  yield* validateRetention(spec.persistentVolumeClaimRetentionPolicy ?? {}, "spec.persistentVolumeClaimRetentionPolicy");
  if (previous === undefined) yield* validateClaims(spec);
  yield* nonNegative(spec.replicas, "spec.replicas");
  yield* nonNegative(spec.minReadySeconds, "spec.minReadySeconds");
  yield* nonNegative(spec.ordinals?.start, "spec.ordinals.start");
  if (previous === undefined && serviceName !== "") {
    for (const wrong of validateDnsLabel(serviceName)) yield invalid("spec.serviceName", serviceName, wrong);
  }
  yield* validateSelector(spec.selector);
  const selector = compileSelector(spec.selector);
  if (selector === undefined) yield invalid("spec.selector", shownSelector(spec.selector), "");
  else yield* validateTemplate(spec, selector, previous);
  yield* validateEndless(spec.template, { at: TEMPLATE, kind: "StatefulSet" });
}

function* validatePodManagementPolicy(policy: string): Iterable<FieldError> {
  const at = "spec.podManagementPolicy";
  if (policy === "") yield required(at);
  else if (policy !== "OrderedReady" && policy !== "Parallel") yield invalid(at, policy, "must be 'OrderedReady' or 'Parallel'");
}

function* validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, at: string): Iterable<FieldError> {
  const { rollingUpdate } = strategy;
  const type: string = strategy.type ?? "";
  if (type === "") yield required(at);
  else if (type === "RollingUpdate") yield* validateRollingUpdate(rollingUpdate ?? {}, child(at, "rollingUpdate"));
  else if (type !== "OnDelete") yield invalid(at, shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  else if (rollingUpdate !== undefined) {
    yield invalid(child(at, "rollingUpdate"), shownStrategy(strategy).RollingUpdate, "only allowed for updateStrategy 'RollingUpdate'");
  }
}

function* validateRollingUpdate({ partition, maxUnavailable }: RollingUpdateStatefulSetStrategy, at: string): Iterable<FieldError> {
  yield* nonNegative(partition, child(at, "partition"));
  if (maxUnavailable === undefined) return;
  const unavailableAt = child(at, "maxUnavailable");
  yield* validateNumberOrPercent(maxUnavailable, unavailableAt);
  if (amountOf(maxUnavailable) === 0) yield invalid(unavailableAt, maxUnavailable, "cannot be 0");
  yield* validateAtMostAll(maxUnavailable, unavailableAt);
}

/** In the format of upstream's message: with its type names. */
function shownStrategy({ type, rollingUpdate }: StatefulSetUpdateStrategy) {
  const { partition = 0, maxUnavailable = null } = rollingUpdate ?? {};
  return { Type: type ?? "", RollingUpdate: rollingUpdate === undefined ? null : { Partition: partition, MaxUnavailable: maxUnavailable } };
}

function* validateRetention(policy: StatefulSetPersistentVolumeClaimRetentionPolicy, at: string): Iterable<FieldError> {
  const supported = ["Retain", "Delete"];
  for (const when of ["whenDeleted", "whenScaled"] as const) {
    const what = policy[when] ?? "";
    if (!supported.includes(what)) yield notSupported(child(at, when), what, supported);
  }
}

function* validateClaims(spec: StatefulSetSpec): Iterable<FieldError> {
  for (const [index, claim] of (claimTemplatesOf(spec) ?? []).entries()) {
    yield* validateClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`);
  }
}

/** Required by the type; a client may have omitted it. */
function* validateSelector(selector: LabelSelector | undefined): Iterable<FieldError> {
  if (selector === undefined) return yield required("spec.selector");
  yield* validateLabelSelectorObject(selector, "spec.selector");
  if (isEmptySelector(selector)) yield invalid("spec.selector", selector, "empty selector is invalid for statefulset");
}

function* validateTemplate(spec: StatefulSetSpec, selector: CompiledSelector, previous?: StatefulSetSpec): Iterable<FieldError> {
  const labels = spec.template.metadata?.labels;
  if (!selector.isEverything && !selector.matches(labels)) yield labelsMissed(labels, TEMPLATE);
  if (spec.template === previous?.template && spec.volumeClaimTemplates === previous.volumeClaimTemplates) return;
  const template = podTemplateWithClaims(spec);
  yield* errorsOf((errors) => validatePodTemplateSpec(errors, template, TEMPLATE));
  yield* validateTemplateMetadata(template);
}

/** Upstream reports its errors a second time. */
function* validateTemplateMetadata({ metadata = {}, spec }: PodTemplateSpec): Iterable<FieldError> {
  yield* errorsOf((errors) => validateLabels(errors, metadata.labels, `${TEMPLATE}.labels`));
  yield* errorsOf((errors) => validateAnnotations(errors, metadata.annotations, `${TEMPLATE}.annotations`));
  yield* errorsOf((errors) =>
    validatePodAnnotations(errors, metadata.annotations ?? {}, spec ?? { containers: [] }, `${TEMPLATE}.annotations`),
  );
}

const CHANGEABLE = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
] as const satisfies readonly (keyof StatefulSetSpec)[];

export function* validateSpecUpdate(next: StatefulSetSpec, previous: StatefulSetSpec): Iterable<FieldError> {
  if (deepEqual(withMembersOf(next, previous, ...CHANGEABLE), previous)) return;
  const allowed = "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy'";
  yield forbidden("spec", `updates to statefulset spec for fields other than ${allowed} and 'minReadySeconds' are forbidden`);
}

const COUNTS = [
  "replicas",
  "readyReplicas",
  "currentReplicas",
  "updatedReplicas",
  "availableReplicas",
  "observedGeneration",
  "collisionCount",
] as const satisfies readonly (keyof StatefulSetStatus)[];

const PARTS = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] as const;

export function* validateStatus(next: StatefulSet, previous: StatefulSet): Iterable<FieldError> {
  const status: Partial<StatefulSetStatus> = next.status ?? {};
  for (const count of COUNTS) yield* nonNegative(status[count], `status.${count}`);
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const part of PARTS) {
    const count = status[part] ?? 0;
    if (count > replicas) yield invalid(`status.${part}`, count, "cannot be greater than status.replicas");
  }
  if (availableReplicas > readyReplicas) {
    yield invalid("status.availableReplicas", availableReplicas, "cannot be greater than status.readyReplicas");
  }
  yield* validateCollisionCount(status.collisionCount, previous.status?.collisionCount);
}
