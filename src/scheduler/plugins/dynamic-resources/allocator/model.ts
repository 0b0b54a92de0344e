/** Terms of the allocator: devices, pools and how they are identified. Types, and the functions that build identifiers. */
import type { CounterSet, Device, ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";

/** "driver/pool/device": names have no slash. Also how messages print a device. */
export type DeviceKey = string;

/** "driver/pool" */
export type PoolKey = string;

export function poolKeyOf(driver: string, pool: string): PoolKey {
  return `${driver}/${pool}`;
}

export function deviceKeyOf(driver: string, pool: string, device: string): DeviceKey {
  return `${driver}/${pool}/${device}`;
}

/** The devices of one pool as a node sees them. */
export interface Pool {
  readonly key: PoolKey;
  readonly driver: string;
  readonly name: string;
  /** Some slices of the current generation are missing: the driver is updating them. Nothing is allocated from it. */
  readonly isIncomplete: boolean;
  /** Its slices contradict each other; the reason is for the log. Nothing is allocated from it. */
  readonly invalidReason: string | undefined;
  /** Slices with devices that the node may use, by name. Individual devices may still select other nodes. */
  readonly slices: readonly ResourceSlice[];
  /** Slices of other nodes, whose devices may consume the same counters. */
  readonly otherSlices: readonly ResourceSlice[];
  readonly counterSets: ReadonlyMap<string, CounterSet>;
}

/** A device that may be allocated. */
export interface Candidate {
  readonly key: DeviceKey;
  readonly device: Device;
  readonly slice: ResourceSlice;
  readonly pool: Pool;
}

export function candidateOf(pool: Pool, slice: ResourceSlice, device: Device): Candidate {
  return { key: deviceKeyOf(pool.driver, pool.name, device.name), device, slice, pool };
}

const ofOneNode = new WeakMap<Pool, Map<ResourceSlice, readonly Candidate[]>>();
const NO_DEVICES: readonly Device[] = [];

/**
 * All devices of a node's own slice, in order, kept as long as its pool: a search looks at them for every Pod. Undefined for other slices, whose
 * devices would be kept once per node.
 */
export function ownCandidates(pool: Pool, slice: ResourceSlice): readonly Candidate[] | undefined {
  const { devices = NO_DEVICES, nodeName } = slice.spec;
  if (nodeName === undefined) return undefined;
  let bySlice = ofOneNode.get(pool);
  if (bySlice === undefined) ofOneNode.set(pool, (bySlice = new Map()));
  let known = bySlice.get(slice);
  if (known === undefined) bySlice.set(slice, (known = devices.map((device) => candidateOf(pool, slice, device))));
  return known;
}

/** Allocation is impossible, whatever the node: the claim, a class or a slice is at fault. Messages are upstream's. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
}

/** Allocation is impossible on this node, for a reason worth reporting. */
export class NodeAllocationError extends Error {
  override readonly name = "NodeAllocationError";
}

/** Selectors are being evaluated in the background: nothing is known about this node yet. */
export class SelectorsPending extends Error {
  override readonly name = "SelectorsPending";
}
