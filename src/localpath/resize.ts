/**
 * Decides the steps of growing a volume whose claim asks for more, in the order of upstream's external resizer: the storage, the capacity
 * of the PersistentVolume, then the claim's status, which asks the kubelet to grow a file system. Pure.
 */
import { readQuantity } from "../api/core/v1/pod/resource-list.ts";
import {
  FILE_SYSTEM_PENDING,
  infeasibleDelayMs,
  pendingResizeStatus,
  resizedStatus,
  resizePhase,
  triedSize,
} from "../api/core/v1/persistent-volume-claim/resize-status.ts";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../api/generated/core/v1.ts";
import { compareQuantities } from "../api/machinery/quantity.ts";
import type { VolumeStorage } from "./local-volumes.ts";
import { requestedSize } from "./volume-request.ts";

export type ResizeStep =
  | { readonly is: "none" }
  /** The node had no space for this size; it may have some later. */
  | { readonly is: "wait"; readonly delayMs: number }
  /** Grow the storage, then set the volume's capacity to `size`. */
  | { readonly is: "grow"; readonly size: string }
  | { readonly is: "report"; readonly status: PersistentVolumeClaimStatus; readonly isComplete: boolean };

/** Delay before a size for which the node had no space is tried again. Another size is tried at once. */
export const REFUSED_RETRY_MS = 60_000;

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
  if (isLess(spec.capacity?.[STORAGE], size)) {
    const delayMs = infeasibleDelayMs(claim.status, size, { delayMs: REFUSED_RETRY_MS, nowMs });
    return delayMs > 0 ? { is: "wait", delayMs } : { is: "grow", size };
  }
  if (!isLess(claim.status.capacity?.[STORAGE], size)) return NONE;
  const hasFileSystem = storage === "image" && spec.volumeMode !== "Block";
  if (!hasFileSystem) return { is: "report", status: resizedStatus(claim.status, size), isComplete: true };
  return isPending(claim.status, size) ? NONE : { is: "report", status: pendingResizeStatus(claim.status, size, nowMs), isComplete: false };
}

function isLess(amount = "0", than: string): boolean {
  return compareQuantities(readQuantity(amount), readQuantity(than)) < 0;
}

/** The kubelet was asked already; a state that it wrote since stays. */
function isPending(status: PersistentVolumeClaimStatus, size: string): boolean {
  const phase = resizePhase(status) ?? "";
  if (triedSize(status) !== size || !phase.startsWith("NodeResize")) return false;
  return phase !== "NodeResizePending" || status.conditions?.some(({ type }) => type === FILE_SYSTEM_PENDING) === true;
}
