/**
 * The status of a claim while a controller grows its volume, as upstream's external resizer writes it: size, phase, and one condition per
 * matter of resizing. Pure. Not here: what the kubelet writes when it grows the file system (kubelet/volumes).
 */
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition, PersistentVolumeClaimStatus } from "../../../generated/core/v1.ts";
import { compareQuantities } from "../../../machinery/quantity.ts";
import { deepEqual } from "../../../../base/deep.ts";
import { formatTime, parseTime } from "../../../machinery/time.ts";
import { readQuantity } from "../pod/resource-list.ts";

const STORAGE = "storage";

export const FILE_SYSTEM_PENDING = "FileSystemResizePending";
const RESIZING = "Resizing";
const FAILED = "ControllerResizeError";

/** Types of the conditions that concern resizing. */
export const RESIZE_CONDITIONS: readonly string[] = [FILE_SYSTEM_PENDING, RESIZING, FAILED, "NodeResizeError"];

export function resizePhase({ allocatedResourceStatuses }: PersistentVolumeClaimStatus): string | undefined {
  return allocatedResourceStatuses?.[STORAGE];
}

/** The size that a controller tried last. */
export function triedSize({ allocatedResources }: PersistentVolumeClaimStatus): string | undefined {
  return allocatedResources?.[STORAGE];
}

export function isSameSize(a: string | undefined, b: string): boolean {
  return a !== undefined && compareQuantities(readQuantity(a), readQuantity(b)) === 0;
}

/** A controller begins. A repeated attempt with the same size keeps what an earlier one reported. */
export function resizingStatus(status: PersistentVolumeClaimStatus, size: string, nowMs: number): PersistentVolumeClaimStatus {
  const isRepeated = isSameSize(triedSize(status), size);
  const begun = hasCondition(status, RESIZING) && isRepeated ? status : withCondition(status, aCondition(RESIZING, nowMs), isRepeated);
  const sized = { ...begun, allocatedResources: { ...status.allocatedResources, [STORAGE]: size } };
  return isRepeated ? sized : withPhase(sized, "ControllerResizeInProgress");
}

export interface ResizeFailure {
  readonly message: string;
  /** The same request can never succeed. */
  readonly isInfeasible: boolean;
}

export function failedResizeStatus(
  status: PersistentVolumeClaimStatus,
  { message, isInfeasible }: ResizeFailure,
  nowMs: number,
): PersistentVolumeClaimStatus {
  const failed = withCondition(status, aCondition(FAILED, nowMs, `failed to expand pvc with ${message}`), true);
  return isInfeasible ? withPhase(failed, "ControllerResizeInfeasible") : failed;
}

/** True if the last attempt of a controller failed for sure: nothing of it is in progress. */
export function hasFailedResize(status: PersistentVolumeClaimStatus): boolean {
  return hasCondition(status, FAILED);
}

/** Whether an attempt is in progress is not known. */
export function uncertainResizeStatus(status: PersistentVolumeClaimStatus): PersistentVolumeClaimStatus {
  return { ...status, conditions: (status.conditions ?? []).filter(({ type }) => type !== FAILED) };
}

/** Remaining delay before an infeasible size is tried again; 0 for another size. */
export function infeasibleDelayMs(status: PersistentVolumeClaimStatus, size: string, times: Retry): number {
  if (resizePhase(status) !== "ControllerResizeInfeasible" || !isSameSize(triedSize(status), size)) return 0;
  const failed = status.conditions?.find(({ type }) => type === FAILED);
  const failedMs = parseTime(failed?.lastTransitionTime ?? "") ?? 0;
  return Math.max(0, failedMs + times.delayMs - times.nowMs);
}

interface Retry {
  readonly delayMs: number;
  readonly nowMs: number;
}

/** The controller is done; the kubelet is asked to grow the file system. */
export function pendingResizeStatus(status: PersistentVolumeClaimStatus, size: string, nowMs: number): PersistentVolumeClaimStatus {
  const message = "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";
  // Of a failure before, nothing is left; that it is being resized still holds.
  const progressing = { ...status, conditions: (status.conditions ?? []).filter(({ type }) => isKept(type) || type === RESIZING) };
  const pending = withCondition(progressing, aCondition(FILE_SYSTEM_PENDING, nowMs, message), true);
  return withPhase({ ...pending, allocatedResources: { ...status.allocatedResources, [STORAGE]: size } }, "NodeResizePending");
}

/** All is done. */
export function resizedStatus(status: PersistentVolumeClaimStatus, size: string): PersistentVolumeClaimStatus {
  const { allocatedResourceStatuses, conditions = [], ...rest } = status;
  const { [STORAGE]: _phase, ...phases } = allocatedResourceStatuses ?? {};
  const others = conditions.filter(({ type }) => isKept(type));
  return {
    ...rest,
    capacity: { ...rest.capacity, [STORAGE]: size },
    allocatedResources: { ...rest.allocatedResources, [STORAGE]: size },
    ...(Object.keys(phases).length === 0 ? {} : { allocatedResourceStatuses: phases }),
    ...(others.length === 0 ? {} : { conditions: others }),
  };
}

/**
 * True if a claim that grows has nothing new to do: conditions are what controllers say of it. One that failed is not woken by its own report,
 * which would skip the backoff.
 */
export function isOnlyReported(before: PersistentVolumeClaim, claim: PersistentVolumeClaim): boolean {
  const inputs = ({
    metadata: { annotations, deletionTimestamp },
    spec,
    status: { conditions: _reports, ...status } = {},
  }: PersistentVolumeClaim) => [...[annotations ?? {}, deletionTimestamp ?? "", spec ?? {}, status]];
  return deepEqual(inputs(before), inputs(claim));
}

function isKept(type: string): boolean {
  return !RESIZE_CONDITIONS.includes(type);
}

function hasCondition({ conditions = [] }: PersistentVolumeClaimStatus, wanted: string): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === "True");
}

function aCondition(type: string, nowMs: number, message?: string): PersistentVolumeClaimCondition {
  return { type, status: "True", lastTransitionTime: formatTime(nowMs), ...(message === undefined ? {} : { message }) };
}

/** Replaces the condition of its type. Without `keepsOthers` all other conditions that concern resizing are removed. */
function withCondition(
  status: PersistentVolumeClaimStatus,
  condition: PersistentVolumeClaimCondition,
  keepsOthers: boolean,
): PersistentVolumeClaimStatus {
  const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type && (keepsOthers || isKept(type)));
  return { ...status, conditions: [...others, condition] };
}

function withPhase(
  status: PersistentVolumeClaimStatus,
  phase: "ControllerResizeInProgress" | "ControllerResizeInfeasible" | "NodeResizePending",
): PersistentVolumeClaimStatus {
  return { ...status, allocatedResourceStatuses: { ...status.allocatedResourceStatuses, [STORAGE]: phase } };
}
