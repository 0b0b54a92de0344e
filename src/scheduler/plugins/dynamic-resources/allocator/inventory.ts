/**
 * All published slices, indexed by node and by pool, and the pools of each node. Thousands of decisions are made between two changes of a
 * slice, so that pools are computed once per node and recomputed only if one of their slices, or the node, changes.
 */
import type { Node } from "../../../../api/generated/core/v1.ts";
import type { ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { poolKeyOf, type Pool, type PoolKey } from "./model.ts";
import { gatherPools } from "./pools.ts";

/** The key of slices of no particular node. No node has this name. */
const SHARED = "";

interface OfNode {
  readonly node: Node;
  readonly pools: readonly Pool[];
}

export class DeviceInventory {
  /** By node, or SHARED, then by name. */
  readonly #byNode = new Map<string, Map<string, ResourceSlice>>();
  readonly #byPool = new Map<PoolKey, Map<string, ResourceSlice>>();
  readonly #pools = new Map<string, OfNode>();

  add(slice: ResourceSlice): void {
    insert(this.#byNode, placeOf(slice), slice);
    insert(this.#byPool, poolOf(slice), slice);
    this.#invalidate(slice);
  }

  delete(slice: ResourceSlice): void {
    this.#invalidate(slice);
    remove(this.#byNode, placeOf(slice), slice);
    remove(this.#byPool, poolOf(slice), slice);
  }

  /** In the order of allocation. */
  poolsOf(node: Node): readonly Pool[] {
    const { name } = node.metadata;
    const known = this.#pools.get(name);
    if (known?.node === node) return known.pools;
    const slices = [...(this.#byNode.get(name)?.values() ?? []), ...(this.#byNode.get(SHARED)?.values() ?? [])];
    const pools = gatherPools(node, slices, (key) => this.#byPool.get(key)?.values() ?? []);
    this.#pools.set(name, { node, pools });
    return pools;
  }

  /** Drops cached pools if there are more than nodes: those of deleted ones are among them. */
  trim(nodes: number): void {
    if (this.#pools.size > nodes) this.#pools.clear();
  }

  /** A slice of a node concerns the nodes whose slices are in the same pool: whether it is complete. */
  #invalidate(slice: ResourceSlice): void {
    const places = new Set([placeOf(slice)]);
    for (const other of this.#byPool.get(poolOf(slice))?.values() ?? []) places.add(placeOf(other));
    if (places.has(SHARED)) this.#pools.clear();
    else for (const place of places) this.#pools.delete(place);
  }
}

function placeOf({ spec }: ResourceSlice): string {
  return (spec.sharedCounters ?? []).length > 0 ? SHARED : (spec.nodeName ?? SHARED);
}

function poolOf({ spec }: ResourceSlice): PoolKey {
  return poolKeyOf(spec.driver, spec.pool.name);
}

function insert(index: Map<string, Map<string, ResourceSlice>>, key: string, slice: ResourceSlice): void {
  const among = index.get(key) ?? new Map<string, ResourceSlice>();
  index.set(key, among);
  among.set(slice.metadata.name, slice);
}

function remove(index: Map<string, Map<string, ResourceSlice>>, key: string, slice: ResourceSlice): void {
  const among = index.get(key);
  among?.delete(slice.metadata.name);
  if (among?.size === 0) index.delete(key);
}
