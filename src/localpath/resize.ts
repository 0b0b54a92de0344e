/**
 * Decides the steps of growing a volume whose claim asks for more, in the order of upstream's external resizer: the storage, the capacity
 * of the PersistentVolume, then the claim's status, which asks the kubelet to grow a file system. Pure.
 */
import { readQuantity } from "../api/core/v1/pod/resource-list.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
  PersistentVolumeClaimStatus,
} from "../api/generated/core/v1.ts";
import { compareQuantities } from "../api/machinery/quantity.ts";
import { formatTime } from "../api/machinery/time.ts";
import type { VolumeStorage } from "./local-volumes.ts";
import { requestedSize } from "./volume-request.ts";

export type ResizeStep =
  | { readonly is: "none" }
  /** Grow the storage, then set the volume's capacity to `size`. */
  | { readonly is: "grow"; readonly size: string }
  | { readonly is: "report"; readonly status: PersistentVolumeClaimStatus; readonly isComplete: boolean };

const NONE: ResizeStep = { is: "none" };

const STORAGE = "storage";

export function resizeStep(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
  { storage, nowMs }: { readonly storage: VolumeStorage["is"]; readonly nowMs: number },
): ResizeStep {
  const { spec = {} } = volume;
  if (claim?.status?.phase !== "Bound" || claim.metadata.uid !== spec.claimRef?.uid) return NONE;
  if (claim.metadata.deletionTimestamp !== undefined) return NONE;
  const size = requestedSize(claim);
  if (isLess(spec.capacity?.[STORAGE], size)) return { is: "grow", size };
  if (!isLess(claim.status.capacity?.[STORAGE], size)) return NONE;
  const hasFileSystem = storage === "image" && spec.volumeMode !== "Block";
  if (!hasFileSystem) return { is: "report", status: grown(claim.status, size), isComplete: true };
  return isPending(claim.status, size) ? NONE : { is: "report", status: pending(claim.status, size, nowMs), isComplete: false };
}

function isLess(amount = "0", than: string): boolean {
  return compareQuantities(readQuantity(amount), readQuantity(than)) < 0;
}

const PENDING = "FileSystemResizePending";

/** The kubelet was asked already; a state that it wrote since stays. */
function isPending(
  { allocatedResources = {}, allocatedResourceStatuses = {}, conditions = [] }: PersistentVolumeClaimStatus,
  size: string,
) {
  const state = allocatedResourceStatuses[STORAGE] ?? "";
  if (allocatedResources[STORAGE] !== size || !state.startsWith("NodeResize")) return false;
  return state !== "NodeResizePending" || conditions.some(({ type }) => type === PENDING);
}

function pending(status: PersistentVolumeClaimStatus, size: string, nowMs: number): PersistentVolumeClaimStatus {
  const condition: PersistentVolumeClaimCondition = {
    type: PENDING,
    status: "True",
    lastTransitionTime: formatTime(nowMs),
    message: "Waiting for user to (re-)start a pod to finish file system resize of volume on node.",
  };
  return {
    ...status,
    conditions: [...otherConditions(status), condition],
    allocatedResources: { ...status.allocatedResources, [STORAGE]: size },
    allocatedResourceStatuses: { ...status.allocatedResourceStatuses, [STORAGE]: "NodeResizePending" },
  };
}

function grown(status: PersistentVolumeClaimStatus, size: string): PersistentVolumeClaimStatus {
  const { [STORAGE]: _state, ...states } = status.allocatedResourceStatuses ?? {};
  return {
    ...status,
    capacity: { ...status.capacity, [STORAGE]: size },
    conditions: otherConditions(status),
    allocatedResources: { ...status.allocatedResources, [STORAGE]: size },
    allocatedResourceStatuses: states,
  };
}

/** Those of other matters than growing. */
function otherConditions({ conditions = [] }: PersistentVolumeClaimStatus): readonly PersistentVolumeClaimCondition[] {
  return conditions.filter(({ type }) => type !== PENDING && type !== "Resizing");
}
