/**
 * The write strategy of Pods: initial values of a new Pod, and for each path the part that it may write, with all else unchanged.
 * Validation follows afterwards (validation/).
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Container, ContainerStatus, Pod, PodCondition, PodSpec, PodStatus } from "../../../generated/core/v1.ts";
import type { ObjectMeta } from "../../../machinery/object.ts";
import { changed, changedItems, withChanges, withMembersOf, withMetadataOf } from "../../../changes.ts";
import { appArmorProfileOf } from "./app-armor.ts";
import { withMatchedLabelKeys } from "./label-keys.ts";
import { qosClassOf } from "./qos.ts";
import { annotation, APP_ARMOR_PREFIX } from "./validation/annotations.ts";
import { validateAppArmorProfile } from "./validation/security.ts";
import { specOf } from "./validation/pod.ts";
import { UNKNOWN_TIME } from "../../../machinery/time.ts";
import { errorsOf } from "../../../machinery/findings.ts";

export function preparePodForCreate(pod: Pod): Pod {
  const spec = withAppArmorFields(withMatchedLabelKeys(specOf(pod), pod.metadata.labels ?? {}), pod.metadata);
  return withChanges(pod, { spec, status: statusOfNew(pod, spec) });
}

function statusOfNew(pod: Pod, spec: PodSpec): PodStatus {
  const qosClass = qosClassOf(spec);
  if ((spec.schedulingGates ?? []).length === 0) return { phase: "Pending", qosClass };
  const gated: PodCondition = {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: UNKNOWN_TIME,
    lastTransitionTime: pod.metadata.creationTimestamp ?? UNKNOWN_TIME,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
  return { phase: "Pending", conditions: [gated], qosClass };
}

/** Profiles in annotations only, as before there were fields, become fields. */
function withAppArmorFields(spec: PodSpec, { annotations }: ObjectMeta): PodSpec {
  if (annotations === undefined || spec.os?.name === "windows") return spec;
  const withField = (container: Container): Container => {
    const text = annotation(annotations, APP_ARMOR_PREFIX + container.name);
    const appArmorProfile = text === undefined ? undefined : appArmorProfileOf(text);
    if (appArmorProfile === undefined || container.securityContext?.appArmorProfile !== undefined) return container;
    const isUsable = errorsOf((errors) => validateAppArmorProfile(errors, appArmorProfile, "")).length === 0;
    if (!isUsable || deepEqual(appArmorProfile, spec.securityContext?.appArmorProfile)) return container;
    return { ...container, securityContext: { ...container.securityContext, appArmorProfile } };
  };
  return withChanges(spec, {
    containers: changedItems(spec.containers, withField),
    initContainers: changedItems(spec.initContainers, withField),
  });
}

export function preparePodForUpdate(next: Pod, previous: Pod): Pod {
  return withMembersOf(next, previous, "status");
}

export function prepareStatusUpdate(next: Pod, previous: Pod): Pod {
  return withChanges(withMembersOf(next, previous, "spec"), {
    metadata: withMembersOf(next.metadata, previous.metadata, "ownerReferences", "deletionTimestamp"),
    status: changed(next.status, (status) => completedStatus(withoutClosedFields(status), previous.status ?? {})),
  });
}

/** A client that omits the QoS class or a generation does not know it and does not mean to remove it. */
function completedStatus(status: PodStatus, before: PodStatus): PodStatus {
  return withChanges(status, {
    qosClass: status.qosClass ?? before.qosClass,
    observedGeneration: status.observedGeneration || before.observedGeneration,
    conditions: withGenerations(status.conditions, before.conditions ?? []),
  });
}

/** Duplicate conditions of one type are matched in order: usually there is one. */
function withGenerations(conditions: readonly PodCondition[] | undefined, before: readonly PodCondition[]): PodStatus["conditions"] {
  const left = new Map<string, PodCondition[]>();
  for (const old of before.toReversed()) {
    const ofType = left.get(old.type);
    if (ofType === undefined) left.set(old.type, [old]);
    else ofType.push(old);
  }
  return changedItems(conditions, (condition) => {
    const old = left.get(condition.type)?.pop();
    return withChanges(condition, { observedGeneration: condition.observedGeneration || old?.observedGeneration });
  });
}

/** Status fields of disabled feature gates. */
function withoutClosedFields(status: PodStatus): PodStatus {
  const { nodeAllocatableResourceClaimStatuses, ...open } = status;
  return withChanges(nodeAllocatableResourceClaimStatuses === undefined ? status : open, {
    containerStatuses: changedItems(status.containerStatuses, withoutImageDigests),
    initContainerStatuses: changedItems(status.initContainerStatuses, withoutImageDigests),
    ephemeralContainerStatuses: changedItems(status.ephemeralContainerStatuses, withoutImageDigests),
  });
}

function withoutImageDigests(status: ContainerStatus): ContainerStatus {
  const volumeMounts = changedItems(status.volumeMounts, (mount) => {
    const { volumeStatus, ...rest } = mount;
    return volumeStatus === undefined ? mount : rest;
  });
  return withChanges(status, { volumeMounts });
}

export function prepareEphemeralContainersUpdate(next: Pod, previous: Pod): Pod {
  return withOnlySpec(next, previous, withMembersOf(specOf(previous), specOf(next), "ephemeralContainers"));
}

/** Where containers were added, removed or renamed, everything stays as sent, so that validation can report it. */
export function prepareResize(next: Pod, previous: Pod): Pod {
  const [spec, before] = [specOf(next), specOf(previous)];
  const isSameCount =
    (spec.containers ?? []).length === (before.containers ?? []).length &&
    (spec.initContainers ?? []).length === (before.initContainers ?? []).length;
  if (!isSameCount) return next;
  const resized = withChanges(withMembersOf(before, spec, "resources"), {
    containers: withResizes(spec.containers, before.containers),
    initContainers: withResizes(spec.initContainers, before.initContainers),
  });
  return withOnlySpec(next, previous, resized);
}

function withResizes(next: readonly Container[] | undefined, previous: readonly Container[] | undefined): readonly Container[] | undefined {
  if (next === undefined || previous === undefined || next.some(({ name }, index) => previous[index]?.name !== name)) return next;
  const byName = new Map(next.map((container) => [container.name, container]));
  return changedItems(previous, (old) => withMembersOf(old, byName.get(old.name) ?? old, "resources", "resizePolicy"));
}

/** The previous Pod with another spec; of the metadata only the resourceVersion precondition. */
function withOnlySpec(next: Pod, previous: Pod, spec: PodSpec): Pod {
  return withChanges(withMetadataOf(withMembersOf(next, previous, "status"), previous), { spec });
}

/** Grace period of a deletion. An unscheduled or finished Pod is removed at once. */
export function gracePeriodOf(pod: Pod, requested: number | undefined): number {
  const { phase } = pod.status ?? {};
  if (!specOf(pod).nodeName || phase === "Failed" || phase === "Succeeded") return 0;
  // A period that is too large for a number is a bigint, and means forever.
  const seconds = Number(requested ?? specOf(pod).terminationGracePeriodSeconds ?? 0);
  return seconds < 0 ? 1 : seconds;
}
