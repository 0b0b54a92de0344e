/**
 * The status of a Pod: a pure function of its spec, the runtime's state and the previously reported status, as upstream's kubelet writes
 * it. A terminal phase never changes, and is reported only when nothing of the Pod runs any more. Not here: when it is written
 * (pod-worker.ts).
 */
import type { ContainerStatus, Pod, PodCondition, PodStatus, ResourceRequirements } from "../../../api/generated/core/v1.ts";
import { qosClassOf } from "../../../api/core/v1/pod/qos.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { isTerminal } from "../../../api/core/v1/pod/readiness.ts";
import { asSpecified, podLimits, podRequests } from "../../../api/core/v1/resource-quota/pod-demand.ts";
import { formatQuantity, type Quantity } from "../../../api/machinery/quantity.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { AdmissionRefusal } from "../admit-pod.ts";
import { containerStatuses, lostWhenTerminated, type ContainersView } from "./container-statuses.ts";
import { hasBegun } from "../plan/plan-init.ts";
import { othersConditions, podConditions, RESIZE_IN_PROGRESS, RESIZE_PENDING } from "./pod-conditions.ts";
import { phaseOf, type Phase } from "./pod-phase.ts";
import { hasRunning } from "../containers/runtime-containers.ts";
import type { PodEviction } from "../../contracts/pod-machine.ts";

export interface PodStatusView extends ContainersView {
  /** IPs of the node, the primary first. */
  readonly hostIps: readonly string[];
  /** Nothing of the Pod runs or will run. */
  readonly isTerminated: boolean;
  readonly isPastDeadline: boolean;
  /** Why the node evicts or rejects the Pod. */
  readonly eviction?: PodEviction | undefined;
  /** Resources granted to the Pod as a whole; absent: those of the spec. */
  readonly grantedPod?: ResourceRequirements | undefined;
  /** Conditions of a resize. */
  readonly resizes?: readonly PodCondition[];
  readonly nowMs: number;
}

/** Reason of the status and of the Event of an evicted Pod. */
export const EVICTED = "Evicted";
export const DEADLINE = { reason: "DeadlineExceeded", message: "Pod was active on the node longer than the specified deadline" };

export function podStatusOf(view: PodStatusView): PodStatus {
  const { pod, sandbox, resizes = [], nowMs } = view;
  const { status: before = {}, metadata } = pod;
  const { initStatuses, statuses } = endedStatuses(view, {
    initStatuses: containerStatuses(view, "init"),
    statuses: containerStatuses(view, "regular"),
  });
  const ephemeralStatuses = containerStatuses(view, "ephemeral");
  const { phase, reached } = phaseIn(view, initStatuses ?? [], statuses ?? []);
  const hasSandbox = sandbox?.state === "ready";
  // Readiness uses the phase that the Pod has reached, as upstream: a terminating Pod is not ready although it is not reported as Failed
  // yet.
  const conditionView = {
    eviction: view.eviction,
    pod,
    initStatuses: initStatuses ?? [],
    statuses: statuses ?? [],
    phase: reached,
    resizes,
    hasSandbox,
    sandbox,
    nowMs,
  };
  return {
    ...kept(before),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    phase,
    conditions: podConditions(conditionView),
    ...reasonFor(view, phase),
    ...addresses(view),
    startTime: before.startTime ?? formatTime(nowMs),
    ...(initStatuses === undefined ? {} : { initContainerStatuses: initStatuses }),
    ...(statuses === undefined ? {} : { containerStatuses: statuses }),
    ...(ephemeralStatuses === undefined ? {} : { ephemeralContainerStatuses: ephemeralStatuses }),
    qosClass: before.qosClass ?? qosClassOf(pod.spec ?? { containers: [] }),
    ...resourcesOf(view),
  };
}

/** Status of a Pod that the node rejects. */
export function refusedStatus(pod: Pod, { reason, message }: AdmissionRefusal, nowMs: number): PodStatus {
  const { status: before = {}, spec, metadata } = pod;
  return {
    ...kept(before),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    phase: "Failed",
    conditions: othersConditions(pod),
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: before.startTime ?? formatTime(nowMs),
    qosClass: before.qosClass ?? qosClassOf(spec ?? { containers: [] }),
  };
}

/** Fields that other components own. */
function kept({
  nominatedNodeName,
  resourceClaimStatuses,
  extendedResourceClaimStatus,
  nodeAllocatableResourceClaimStatuses,
  resize,
}: PodStatus) {
  return {
    ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }),
    ...(resize === undefined ? {} : { resize }),
    ...(resourceClaimStatuses === undefined ? {} : { resourceClaimStatuses }),
    ...(extendedResourceClaimStatus === undefined ? {} : { extendedResourceClaimStatus }),
    ...(nodeAllocatableResourceClaimStatuses === undefined ? {} : { nodeAllocatableResourceClaimStatuses }),
  };
}

interface Statuses {
  readonly initStatuses: readonly ContainerStatus[] | undefined;
  readonly statuses: readonly ContainerStatus[] | undefined;
}

/**
 * In a terminated Pod, containers without a known exit have failed; but those that never started because initialization did not complete
 * keep waiting, even if the Pod is deleted. Follows upstream's TerminatePod.
 */
function endedStatuses({ isTerminated, pod }: PodStatusView, { initStatuses, statuses }: Statuses): Statuses {
  if (!isTerminated) return { initStatuses, statuses };
  const begun = Math.max(1, 1 + (initStatuses ?? []).findLastIndex(hasLeftWaiting));
  return {
    initStatuses: initStatuses?.map((status, index) => (index < begun ? terminated(status) : status)),
    statuses: isInitialized(pod, { initStatuses, statuses }) ? statuses?.map(terminated) : statuses,
  };
}

function terminated(status: ContainerStatus): ContainerStatus {
  return status.state?.terminated === undefined ? { ...status, state: { terminated: lostWhenTerminated } } : status;
}

function hasLeftWaiting({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting === undefined || lastState?.terminated !== undefined;
}

/** Upstream's hasPodInitialized: by the reported and by the current state. */
function isInitialized({ spec, status }: Pod, { initStatuses = [], statuses = [] }: Statuses): boolean {
  const last = spec?.initContainers?.at(-1);
  if (last === undefined) return true;
  if ([...(status?.containerStatuses ?? []), ...statuses].some(hasLeftWaiting)) return true;
  const known = [initStatuses.at(-1), status?.initContainerStatuses?.find(({ name }) => name === last.name)];
  return known.some((one) => {
    if (isSidecar(last)) return one?.state?.running !== undefined && one.started === true;
    return [one?.state, one?.lastState].some((state) => state?.terminated?.exitCode === 0);
  });
}

/** `reached`: by containers and deadline. Reported as the phase when nothing runs any more. */
function phaseIn(
  view: PodStatusView,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
): { readonly phase: Phase; readonly reached: Phase } {
  const { pod, sandbox, isTerminated, isPastDeadline, eviction } = view;
  const before = pod.status?.phase ?? "Pending";
  if (isTerminal(pod)) return { phase: before, reached: before };
  const phase = phaseOf({ pod, initStatuses, statuses, isTerminated, hasBegun: hasBegun(view) });
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  const isFailed = isPastDeadline || eviction !== undefined || (isTerminated && isDeleted && phase !== "Succeeded");
  const reached = isFailed ? "Failed" : phase;
  const isHeld = hasRunning(sandbox) && (reached === "Failed" || reached === "Succeeded");
  return { phase: isHeld ? before : reached, reached };
}

/** Reason and message of the phase, kept until the phase changes. */
function reasonFor({ pod, isPastDeadline, eviction }: PodStatusView, phase: Phase): Pick<PodStatus, "reason" | "message"> {
  const { status: { phase: before, reason, message } = {} } = pod;
  if (eviction !== undefined && phase === "Failed" && before !== "Failed") return { reason: eviction.reason, message: eviction.message };
  if (isPastDeadline && phase === "Failed" && before !== "Failed") return DEADLINE;
  if (before !== phase) return {};
  return { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
}

function addresses({ pod, sandbox, hostIps }: PodStatusView) {
  const { podIP, podIPs } = pod.status ?? {};
  const [hostIP] = hostIps;
  const ips = pod.spec?.hostNetwork === true ? hostIps : (sandbox?.ips ?? []);
  const isKept = ips.length === 0 && podIP !== undefined;
  return {
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(isKept ? { podIP, ...(podIPs === undefined ? {} : { podIPs }) } : {}),
    ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
  };
}

/** Allocated resources of the Pod as a whole, and those in effect; previously reported ones are ignored. */
function resourcesOf({ pod, grantedPod }: PodStatusView): Pick<PodStatus, "resources" | "allocatedResources"> {
  const { observedGeneration, resources, allocatedResources, conditions } = pod.status ?? {};
  const wasResized = conditions?.some(({ type }) => type === RESIZE_PENDING || type === RESIZE_IN_PROGRESS) === true;
  // Hot path: reuses the sum while nothing has changed.
  if (resources !== undefined && observedGeneration === pod.metadata.generation && !wasResized) {
    return { ...(allocatedResources === undefined ? {} : { allocatedResources }), resources };
  }
  const specified = asSpecified(pod);
  const allocated = textsOf(podRequests(specified));
  const { spec } = specified;
  const effective =
    spec?.resources === undefined || grantedPod === undefined ? specified : { ...specified, spec: { ...spec, resources: grantedPod } };
  const [requests, limits] = [textsOf(podRequests(effective)), textsOf(podLimits(effective))];
  return {
    ...(allocated === undefined ? {} : { allocatedResources: allocated }),
    resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
  };
}

function textsOf(amounts: ReadonlyMap<string, Quantity>): Readonly<Record<string, string>> | undefined {
  if (amounts.size === 0) return undefined;
  return Object.fromEntries([...amounts].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
