/**
 * When a claim is to be grown on its node, and what its status says before and after, as upstream's kubelet computes it. Pure. Not here:
 * growing the volume of a claim in its backend, which a controller or a provisioner does first.
 */
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../../api/generated/core/v1.ts";
import { readQuantity } from "../../../api/core/v1/pod/resource-list.ts";
import { compareQuantities } from "../../../api/machinery/quantity.ts";
import type { PersistentPair } from "./volume-plugin.ts";

const RESOURCE = "storage";

/** Phases of a growth in which it is the node's turn. Absent: a controller that does not report phases. */
const NODE_PHASES: readonly (string | undefined)[] = [undefined, "NodeResizePending", "NodeResizeInProgress"];

const RESIZE_CONDITIONS: readonly string[] = ["FileSystemResizePending", "Resizing", "ControllerResizeError", "NodeResizeError"];

/** True if the claim wants more than it has: the only case in which its PersistentVolume may have grown. */
export function mayHaveGrown({ spec, status }: PersistentVolumeClaim): boolean {
  return isLess(status?.capacity?.[RESOURCE], spec?.resources?.requests?.[RESOURCE]);
}

/** The size to which the node is to grow the volume; undefined if there is nothing to do. */
export function expansionDue({ claim, volume }: PersistentPair): string | undefined {
  const { capacity, allocatedResources, allocatedResourceStatuses } = claim.status ?? {};
  const grown = volume.spec?.capacity?.[RESOURCE];
  const phase = allocatedResourceStatuses?.[RESOURCE];
  if (!isLess(capacity?.[RESOURCE], grown) || !NODE_PHASES.includes(phase)) return undefined;
  return phase === undefined ? grown : (allocatedResources?.[RESOURCE] ?? grown);
}

export function inProgressStatus({ status }: PersistentVolumeClaim): PersistentVolumeClaimStatus {
  return { ...status, allocatedResourceStatuses: { ...status?.allocatedResourceStatuses, [RESOURCE]: "NodeResizeInProgress" } };
}

/** Conditions of other matters are kept. */
export function expandedStatus({ status }: PersistentVolumeClaim, size: string): PersistentVolumeClaimStatus {
  const { allocatedResourceStatuses, conditions, ...rest } = status ?? {};
  const phases = Object.entries(allocatedResourceStatuses ?? {}).filter(([name]) => name !== RESOURCE);
  const others = (conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.includes(type));
  return {
    ...rest,
    capacity: { ...rest.capacity, [RESOURCE]: size },
    ...(phases.length === 0 ? {} : { allocatedResourceStatuses: Object.fromEntries(phases) }),
    ...(others.length === 0 ? {} : { conditions: others }),
  };
}

function isLess(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && compareQuantities(readQuantity(a), readQuantity(b)) < 0;
}
