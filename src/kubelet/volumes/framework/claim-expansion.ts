/**
 * When a claim is to be grown on its node, and what its status says before and after, as upstream's kubelet computes it. Pure. Not here:
 * growing the volume of a claim in its backend, which a controller or a provisioner does first.
 */
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../../api/generated/core/v1.ts";
import { RESIZE_CONDITIONS } from "../../../api/core/v1/persistent-volume-claim/resize-status.ts";
import { readQuantity } from "../../../api/core/v1/pod/resource-list.ts";
import { compareQuantities } from "../../../api/machinery/quantity.ts";
import type { PersistentPair, PersistentSource } from "./volume-plugin.ts";

const RESOURCE = "storage";

/** Phases of a growth in which it is the node's turn. Absent: a controller that does not report phases. */
const NODE_PHASES: readonly (string | undefined)[] = [undefined, "NodeResizePending", "NodeResizeInProgress"];

/** True if the claim wants more than it has: the only case in which its PersistentVolume may have grown. */
export function mayHaveGrown({ spec, status }: PersistentVolumeClaim): boolean {
  return isLess(status?.capacity?.[RESOURCE], spec?.resources?.requests?.[RESOURCE]);
}

/** The size to which the node is to grow the volume; undefined if there is nothing to do. */
export function expansionDue({ claim, volume }: PersistentSource): string | undefined {
  const { capacity, allocatedResources, allocatedResourceStatuses } = claim?.status ?? {};
  const grown = volume.spec?.capacity?.[RESOURCE];
  const phase = allocatedResourceStatuses?.[RESOURCE];
  if (!isLess(capacity?.[RESOURCE], grown) || !NODE_PHASES.includes(phase)) return undefined;
  return phase === undefined ? grown : (allocatedResources?.[RESOURCE] ?? grown);
}

export function inProgressStatus({ status }: PersistentVolumeClaim): PersistentVolumeClaimStatus {
  return { ...status, allocatedResourceStatuses: { ...status?.allocatedResourceStatuses, [RESOURCE]: "NodeResizeInProgress" } };
}

/** True if the controller that grows the claim reports phases: it reads what the node says of a failure. */
export function hasNodePhase({ status }: PersistentVolumeClaim): boolean {
  return status?.allocatedResourceStatuses?.[RESOURCE] !== undefined;
}

/** True if the user asked for another size since the controller grew the volume. */
export function wantsAnotherSize({ claim, volume }: PersistentPair): boolean {
  const [requested, grown] = [claim.spec?.resources?.requests?.[RESOURCE], volume.spec?.capacity?.[RESOURCE]];
  return isLess(requested, grown) || isLess(grown, requested);
}

export interface ExpansionFailure {
  readonly message: string;
  /** The controller is to try another size, and the node waits for it. */
  readonly isInfeasible: boolean;
  readonly time: string;
}

/** As upstream, the condition of an earlier failure stays as it is. */
export function failedStatus(
  { status }: PersistentVolumeClaim,
  { message, isInfeasible, time }: ExpansionFailure,
): PersistentVolumeClaimStatus {
  const conditions = status?.conditions ?? [];
  const isNew = !conditions.some((one) => one.type === "NodeResizeError" && one.status === "True");
  const failed = {
    type: "NodeResizeError",
    status: "True" as const,
    lastTransitionTime: time,
    message: `failed to expand pvc with ${message}`,
  };
  const others = conditions.filter(({ type }) => type !== "NodeResizeError");
  return {
    ...status,
    ...(isNew ? { conditions: [...others, failed] } : {}),
    ...(isInfeasible ? { allocatedResourceStatuses: { ...status?.allocatedResourceStatuses, [RESOURCE]: "NodeResizeInfeasible" } } : {}),
  };
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
