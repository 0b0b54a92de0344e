/**
 * The size to ask a driver for, decided from a claim and its volume with the branches of upstream's external resizer: an earlier size is
 * completed before another one is tried, unless it failed for sure. Pure.
 */
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import { FILE_SYSTEM_PENDING, hasFailedResize, resizePhase, triedSize } from "../../api/core/v1/persistent-volume-claim/resize-status.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { compareQuantities } from "../../api/machinery/quantity.ts";

const STORAGE = "storage";

/** Undefined: there is nothing to do, or it is the kubelet's turn. */
export function sizeToRequest({ spec, status = {} }: PersistentVolumeClaim, volume: PersistentVolume): string | undefined {
  const requested = spec?.resources?.requests?.[STORAGE] ?? "0";
  if (status.phase !== "Bound" || !isLess(status.capacity?.[STORAGE], requested)) return undefined;
  const [phase, tried] = [resizePhase(status), triedSize(status)];
  const size = volume.spec?.capacity?.[STORAGE];
  if (!isLess(size, requested)) {
    // The volume is large enough; the claim does not say so yet.
    if (phase === "NodeResizePending" || phase === "NodeResizeInProgress") return undefined;
    if (phase === undefined && tried === undefined && status.conditions?.some(({ type }) => type === FILE_SYSTEM_PENDING)) return undefined;
    return tried ?? requested;
  }
  switch (phase) {
    case "NodeResizePending":
    case "NodeResizeInProgress":
      return isLess(size, tried ?? requested) ? (tried ?? requested) : undefined;
    case "NodeResizeInfeasible":
      return tried ?? requested;
    case "ControllerResizeInProgress":
      return hasFailedResize(status) ? requested : (tried ?? requested);
    default:
      return requested;
  }
}

export function isLess(amount = "0", than: string): boolean {
  return compareQuantities(readQuantity(amount), readQuantity(than)) < 0;
}
