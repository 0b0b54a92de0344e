/**
 * Whether a node has capacity for a Pod's requests, and if not, which resources are insufficient. A node that would be too small even when
 * empty is not worth preempting on. Hot path (called per node): frequent results are preallocated.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Rejection } from "../../framework/plugin.ts";
import type { Resources } from "../../framework/resources.ts";

/** What a Pod asks for. */
export interface Demand {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  readonly scalars: readonly ScalarDemand[];
}

interface ScalarDemand {
  readonly name: string;
  readonly amount: number;
  readonly reason: string;
  /** Devices can provide it on nodes that do not provide it themselves: DynamicResources decides there. */
  readonly byDevices: boolean;
}

/** The relevant part of a node. */
export type Room = Pick<NodeInfo, "podCount" | "allowedPods" | "allocatable" | "requested">;

const NO_SCALAR_DEMANDS: readonly ScalarDemand[] = [];

/** Which resources do not count as usual. */
export interface ResourceRules {
  isIgnored(resource: string): boolean;
  isByDevices(resource: string): boolean;
}

export function demandOf({ scalars, ...requests }: Resources, { isIgnored, isByDevices }: ResourceRules): Demand {
  if (scalars.size === 0) return { ...requests, scalars: NO_SCALAR_DEMANDS };
  const counted = [...scalars].filter(([name, amount]) => amount !== 0 && !isIgnored(name));
  const demands = counted.map(([name, amount]) => ({ name, amount, reason: `Insufficient ${name}`, byDevices: isByDevices(name) }));
  return { ...requests, scalars: demands };
}

const PODS = 1;
const CPU = 2;
const MEMORY = 4;
const EPHEMERAL_STORAGE = 8;
/** The request exceeds the node's total. */
const TOO_SMALL = 16;

const REASONS = [
  [PODS, "Too many pods"],
  [CPU, "Insufficient cpu"],
  [MEMORY, "Insufficient memory"],
  [EPHEMERAL_STORAGE, "Insufficient ephemeral-storage"],
] as const;

/** By insufficient resource. */
const REJECTIONS: readonly Rejection[] = Array.from({ length: 2 * TOO_SMALL }, (_, lacking) => ({
  reasons: REASONS.flatMap(([what, reason]) => ((lacking & what) === 0 ? [] : [reason])),
  resolvable: (lacking & TOO_SMALL) === 0,
}));

/** Undefined: it fits. */
export function insufficiency(demand: Demand, room: Room): Rejection | undefined {
  const { allocatable, requested } = room;
  const { milliCpu, memoryBytes, ephemeralStorageBytes, scalars } = demand;
  let lacking = room.podCount < room.allowedPods ? 0 : PODS;
  // Unrequested resources are not checked: a node may already be overcommitted.
  if (milliCpu > 0 && milliCpu > allocatable.milliCpu - requested.milliCpu) {
    lacking |= milliCpu > allocatable.milliCpu ? CPU | TOO_SMALL : CPU;
  }
  if (memoryBytes > 0 && memoryBytes > allocatable.memoryBytes - requested.memoryBytes) {
    lacking |= memoryBytes > allocatable.memoryBytes ? MEMORY | TOO_SMALL : MEMORY;
  }
  if (ephemeralStorageBytes > 0 && ephemeralStorageBytes > allocatable.ephemeralStorageBytes - requested.ephemeralStorageBytes) {
    lacking |= ephemeralStorageBytes > allocatable.ephemeralStorageBytes ? EPHEMERAL_STORAGE | TOO_SMALL : EPHEMERAL_STORAGE;
  }
  for (const scalar of scalars) if (isLacking(scalar, room)) return withScalars(lacking, scalars, room);
  return lacking === 0 ? undefined : REJECTIONS[lacking];
}

function isLacking({ name, amount, byDevices }: ScalarDemand, { allocatable, requested }: Room): boolean {
  const provided = allocatable.scalars.get(name) ?? 0;
  if (byDevices && provided === 0) return false;
  return amount > provided - (requested.scalars.get(name) ?? 0);
}

function withScalars(lacking: number, scalars: readonly ScalarDemand[], room: Room): Rejection {
  const missing = scalars.filter((scalar) => isLacking(scalar, room));
  const isTooSmall = missing.some(({ name, amount }) => amount > (room.allocatable.scalars.get(name) ?? 0));
  const others = REJECTIONS[lacking];
  return {
    reasons: [...(others?.reasons ?? []), ...missing.map(({ reason }) => reason)],
    resolvable: !isTooSmall && (others?.resolvable ?? true),
  };
}
