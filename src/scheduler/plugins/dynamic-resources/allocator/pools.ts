/**
 * The resource pools that a node may use, from the slices that drivers publish. Slices of older generations are ignored; a pool with
 * missing slices is incomplete, one with contradictory slices invalid. Pools are sorted by driver and name, their slices by name, so that
 * driver authors can influence the order of allocation; pools with binding conditions are last. Pure.
 */
import type { Node, NodeSelector } from "../../../../api/generated/core/v1.ts";
import type { CounterSet, ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { NodeTerms } from "../../../../api/core/v1/node/node-selector.ts";
import { poolKeyOf, type Pool, type PoolKey } from "./model.ts";

interface NodeSelection {
  readonly nodeName?: string;
  readonly allNodes?: boolean;
  readonly nodeSelector?: NodeSelector;
}

/** Whether the node is selected by name, by all, or by labels. */
export function selectsNode({ nodeName = "", allNodes, nodeSelector }: NodeSelection, node: Node): boolean {
  if (nodeName !== "") return nodeName === node.metadata.name;
  if (allNodes === true) return true;
  return nodeSelector !== undefined && new NodeTerms(nodeSelector).matches(node);
}

/** `slicesForNode`: those of the node and those of no particular node. `slicesOfPool`: all slices of a pool, whatever their node. */
export function gatherPools(
  node: Node,
  slicesForNode: Iterable<ResourceSlice>,
  slicesOfPool: (pool: PoolKey) => Iterable<ResourceSlice>,
): readonly Pool[] {
  const slices = new Map<PoolKey, ResourceSlice[]>();
  for (const slice of slicesForNode) if (isRelevant(slice, node)) addNewest(slices, slice);
  const pools = [...slices].flatMap(([key, ofNode]) => poolOf(key, ofNode, slicesOfPool) ?? []);
  pools.sort(byDriverAndName);
  return [...pools.filter((pool) => !hasBindingConditions(pool)), ...pools.filter(hasBindingConditions)];
}

/** Counters are needed whatever the node. A slice without any node selection is of a future kind, and ignored. */
function isRelevant({ spec }: ResourceSlice, node: Node): boolean {
  if ((spec.sharedCounters ?? []).length > 0) return true;
  if (spec.perDeviceNodeSelection === true) return (spec.devices ?? []).some((device) => selectsNode(device, node));
  return selectsNode(spec, node);
}

function addNewest(pools: Map<PoolKey, ResourceSlice[]>, slice: ResourceSlice): void {
  const { driver, pool } = slice.spec;
  const key = poolKeyOf(driver, pool.name);
  const known = pools.get(key);
  const generation = known?.[0]?.spec.pool.generation;
  if (known === undefined || generation === undefined || pool.generation > generation) pools.set(key, [slice]);
  else if (pool.generation === generation) known.push(slice);
}

/** Undefined if a newer generation without slices for this node replaces it. */
function poolOf(
  key: PoolKey,
  slices: readonly ResourceSlice[],
  slicesOfPool: (pool: PoolKey) => Iterable<ResourceSlice>,
): Pool | undefined {
  const [first] = slices;
  if (first === undefined) return undefined;
  const { driver, pool } = first.spec;
  const base = { key, driver, name: pool.name, isIncomplete: false, invalidReason: undefined };
  if (slices.length === pool.resourceSliceCount) return checked({ ...base, ...partsOf(slices), otherSlices: [] });
  const all = [...slicesOfPool(key)];
  if (all.some(({ spec }) => spec.pool.generation > pool.generation)) return undefined;
  const current = all.filter(({ spec }) => spec.pool.generation === pool.generation);
  if (current.length !== pool.resourceSliceCount)
    return { ...base, isIncomplete: true, slices: [], otherSlices: [], counterSets: new Map() };
  const names = new Set(slices.map(({ metadata }) => metadata.name));
  return checked({ ...base, ...partsOf(slices), otherSlices: current.filter(({ metadata }) => !names.has(metadata.name)) });
}

type Unchecked = Omit<Pool, "counterSets"> & { readonly counterSlices: readonly ResourceSlice[] };

function partsOf(slices: readonly ResourceSlice[]): Pick<Unchecked, "slices" | "counterSlices"> {
  const sorted = slices.toSorted((a, b) => compareTexts(a.metadata.name, b.metadata.name));
  const hasCounters = ({ spec }: ResourceSlice) => (spec.sharedCounters ?? []).length > 0;
  return { slices: sorted.filter((slice) => !hasCounters(slice)), counterSlices: sorted.filter(hasCounters) };
}

function checked({ counterSlices, ...pool }: Unchecked): Pool {
  const counterSets = new Map<string, CounterSet>();
  const invalid = (invalidReason: string): Pool => ({ ...pool, invalidReason, slices: [], otherSlices: [], counterSets: new Map() });
  const names = new Set<string>();
  for (const { name } of pool.slices.flatMap(({ spec }) => spec.devices ?? [])) {
    if (names.has(name)) return invalid(`duplicate device name ${name}`);
    names.add(name);
  }
  for (const set of counterSlices.flatMap(({ spec }) => spec.sharedCounters ?? [])) {
    if (counterSets.has(set.name)) return invalid(`duplicate counter set name ${set.name}`);
    counterSets.set(set.name, set);
  }
  const problem = missingCounter(counterSets, [...pool.slices, ...pool.otherSlices]);
  return problem === undefined ? { ...pool, counterSets } : invalid(problem);
}

function missingCounter(counterSets: ReadonlyMap<string, CounterSet>, slices: readonly ResourceSlice[]): string | undefined {
  for (const { consumesCounters = [] } of slices.flatMap(({ spec }) => spec.devices ?? [])) {
    for (const { counterSet, counters } of consumesCounters) {
      const known = counterSets.get(counterSet);
      if (known === undefined) return `counter set ${counterSet} not found`;
      const missing = Object.keys(counters).find((name) => !Object.hasOwn(known.counters, name));
      if (missing !== undefined) return `counter ${missing} not found in counter set ${counterSet}`;
    }
  }
  return undefined;
}

function hasBindingConditions({ slices }: Pool): boolean {
  return slices.some(({ spec }) => spec.devices?.some(({ bindingConditions }) => bindingConditions !== undefined) === true);
}

function byDriverAndName(a: Pool, b: Pool): number {
  return compareTexts(a.driver, b.driver) || compareTexts(a.name, b.name);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
