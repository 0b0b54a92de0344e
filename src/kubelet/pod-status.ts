/**
 * What the API is told about a Pod: a pure function of what is wanted, what there is, and what was said before. As upstream's kubelet
 * writes it. A Pod that is over stays what it was; one of which something still runs is not called over yet.
 * Not here: when it is written (pod-worker.ts).
 */
import type { ContainerStatus, Pod, PodCondition, PodStatus } from "../api/generated/core/v1.ts";
import { qosClassOf } from "../api/core/v1/pod/qos.ts";
import { isTerminal } from "../api/core/v1/pod/readiness.ts";
import { asSpecified, podLimits, podRequests } from "../api/core/v1/resource-quota/pod-demand.ts";
import { formatQuantity, type Quantity } from "../api/machinery/quantity.ts";
import { formatTime } from "../api/machinery/time.ts";
import type { AdmissionRefusal } from "./admit-pod.ts";
import { containerStatuses, lostWhenTerminated, type ContainersView } from "./container-statuses.ts";
import { hasBegun } from "./plan-init.ts";
import { othersConditions, podConditions, RESIZE_IN_PROGRESS, RESIZE_PENDING } from "./pod-conditions.ts";
import { phaseOf, type Phase } from "./pod-phase.ts";
import { hasRunning } from "./runtime-containers.ts";

export interface PodStatusView extends ContainersView {
  /** Of the node, the first of them the main one. */
  readonly hostIps: readonly string[];
  /** Nothing of it runs any more, or will. */
  readonly isOver: boolean;
  readonly isPastDeadline: boolean;
  /** Conditions of a resize of it, if there is one. */
  readonly resizes?: readonly PodCondition[];
  readonly nowMs: number;
}

const DEADLINE = { reason: "DeadlineExceeded", message: "Pod was active on the node longer than the specified deadline" };

export function podStatusOf(view: PodStatusView): PodStatus {
  const { pod, sandbox, resizes = [], nowMs } = view;
  const { status: before = {}, metadata } = pod;
  const initStatuses = containerStatuses(view, "init");
  // Of a Pod that never came so far as to run them, nothing is assumed.
  const isInitialized = (initStatuses ?? []).every(({ ready, state }) => ready || state?.terminated?.exitCode === 0);
  const isLast = view.isOver && (isInitialized || metadata.deletionTimestamp !== undefined);
  const statuses = endedStatuses(containerStatuses(view, "regular"), { isLast });
  const ephemeralStatuses = containerStatuses(view, "ephemeral");
  const phase = phaseIn(view, initStatuses ?? [], statuses ?? []);
  const hasSandbox = sandbox?.state === "ready";
  const told = { pod, initStatuses: initStatuses ?? [], statuses: statuses ?? [], phase, resizes, hasSandbox, nowMs };
  return {
    ...kept(before),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    phase,
    conditions: podConditions(told),
    ...reasonFor(view, phase),
    ...addresses(view),
    startTime: before.startTime ?? formatTime(nowMs),
    ...(initStatuses === undefined ? {} : { initContainerStatuses: initStatuses }),
    ...(statuses === undefined ? {} : { containerStatuses: statuses }),
    ...(ephemeralStatuses === undefined ? {} : { ephemeralContainerStatuses: ephemeralStatuses }),
    qosClass: before.qosClass ?? qosClassOf(pod.spec ?? { containers: [] }),
    ...resourcesOf(pod),
  };
}

/** Of a Pod that the node does not take. */
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

/** What others write. */
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

/** When a Pod is over, what was never seen to end has ended badly. */
function endedStatuses(statuses: readonly ContainerStatus[] | undefined, { isLast }: { readonly isLast: boolean }) {
  if (!isLast) return statuses;
  return statuses?.map((status) =>
    status.state?.terminated === undefined ? { ...status, state: { terminated: lostWhenTerminated } } : status,
  );
}

function phaseIn(view: PodStatusView, initStatuses: readonly ContainerStatus[], statuses: readonly ContainerStatus[]): Phase {
  const { pod, sandbox, isOver, isPastDeadline } = view;
  const before = pod.status?.phase ?? "Pending";
  if (isTerminal(pod)) return before;
  const phase = phaseOf({ pod, initStatuses, statuses, isOver, hasBegun: hasBegun(view) });
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  if (hasRunning(sandbox)) return phase === "Failed" || phase === "Succeeded" ? before : phase;
  if (isPastDeadline) return "Failed";
  if (isOver && isDeleted && phase !== "Succeeded") return "Failed";
  return phase;
}

/** Why it is in its phase: what was said is said until the phase changes. */
function reasonFor({ pod, isPastDeadline }: PodStatusView, phase: Phase): Pick<PodStatus, "reason" | "message"> {
  const { status: { phase: before, reason, message } = {} } = pod;
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

/** What the Pod as a whole was allocated: of what was told of it before, nothing counts. */
function resourcesOf(pod: Pod): Pick<PodStatus, "resources" | "allocatedResources"> {
  const { observedGeneration, resources, allocatedResources, conditions } = pod.status ?? {};
  const wasResized = conditions?.some(({ type }) => type === RESIZE_PENDING || type === RESIZE_IN_PROGRESS) === true;
  // Adding up is not cheap, and nothing has changed since it was done.
  if (resources !== undefined && observedGeneration === pod.metadata.generation && !wasResized) {
    return { ...(allocatedResources === undefined ? {} : { allocatedResources }), resources };
  }
  const specified = asSpecified(pod);
  const [requests, limits] = [textsOf(podRequests(specified)), textsOf(podLimits(specified))];
  return {
    ...(requests === undefined ? {} : { allocatedResources: requests }),
    resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
  };
}

function textsOf(amounts: ReadonlyMap<string, Quantity>): Readonly<Record<string, string>> | undefined {
  if (amounts.size === 0) return undefined;
  return Object.fromEntries([...amounts].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
