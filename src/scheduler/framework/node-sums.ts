/**
 * Sums over all nodes, maintained from cycle to cycle. A plugin that counts Pods per zone would otherwise visit all Pods for every
 * placement; but between two cycles hardly more than one node differs, and NodeInfos are immutable. So only the contribution of changed
 * ones is replaced: the snapshot knows which, or all are compared with the last state. A sum that was not queried for a while catches up
 * from the recorded changes, or is recomputed if they were dropped. It always equals a fresh one.
 */
import { Lru } from "../../base/lru.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Snapshot } from "./snapshot.ts";

/** Initial value of a cached sum. */
export const NOTHING_SEEN = -1;

/** Recorded changes. A sum that missed more is recomputed; each recorded one retains an old NodeInfo. */
const CHANGES_MAX = 1_024;

/** Maximum number of sums; least recently used ones are dropped. One with a value per node weighs as much as the nodes. */
const SUMS_MAX = 256;

/** Something summed over nodes. `remove` reverts `add`. To be changed only by NodeHistory. */
export interface NodeSum {
  /** Position in the history; managed by it. Starts as NOTHING_SEEN. */
  seen: number;
  add(node: NodeInfo): void;
  remove(node: NodeInfo): void;
  clear(): void;
}

interface Change {
  readonly before: NodeInfo | undefined;
  readonly now: NodeInfo | undefined;
}

/** The nodes as last seen, and the recorded changes. */
export class NodeHistory {
  readonly #nodes: NodeInfo[] = [];
  #changes: Change[] = [];
  /** Number of dropped changes. */
  #forgotten = 0;
  #snapshot: Snapshot | undefined;
  #generation = NOTHING_SEEN;

  /** Updates a sum to this snapshot. */
  follow(sum: NodeSum, snapshot: Snapshot): void {
    this.#look(snapshot);
    const { seen } = sum;
    // If adding throws, the sum is incomplete: it is recomputed next time.
    sum.seen = NOTHING_SEEN;
    if (seen < this.#forgotten) {
      sum.clear();
      for (const node of this.#nodes) sum.add(node);
    } else {
      for (let index = seen - this.#forgotten; index < this.#changes.length; index++) replay(sum, this.#changes[index]);
    }
    sum.seen = this.#forgotten + this.#changes.length;
  }

  /** Finds differences, slot by slot. Moved nodes leave their old slot and enter the new one: for a sum that is nothing. */
  #look(snapshot: Snapshot): void {
    const isSame = snapshot === this.#snapshot;
    if (isSame && snapshot.generation === this.#generation) return;
    const changed = isSame ? snapshot.changedSince?.(this.#generation) : undefined;
    if (changed === undefined) this.#compareAll(snapshot);
    else for (const index of changed) this.#compare(index, snapshot.nodes[index]);
    this.#snapshot = snapshot;
    this.#generation = snapshot.generation;
    this.#forget();
  }

  #compareAll({ nodes }: Snapshot): void {
    const seen = this.#nodes;
    const both = Math.min(seen.length, nodes.length);
    for (let index = 0; index < both; index++) this.#compare(index, nodes[index]);
    for (let index = both; index < nodes.length; index++) this.#replace(index, nodes[index]);
    for (const before of seen.splice(nodes.length)) this.#changes.push({ before, now: undefined });
  }

  #compare(index: number, now: NodeInfo | undefined): void {
    if (this.#nodes[index] !== now) this.#replace(index, now);
  }

  #replace(index: number, now: NodeInfo | undefined): void {
    this.#changes.push({ before: this.#nodes[index], now });
    if (now !== undefined) this.#nodes[index] = now;
  }

  /** Drops half at a time, so that the rest is not moved for each. */
  #forget(): void {
    if (this.#changes.length <= CHANGES_MAX) return;
    this.#forgotten += this.#changes.length - CHANGES_MAX / 2;
    this.#changes = this.#changes.slice(-CHANGES_MAX / 2);
  }
}

function replay(sum: NodeSum, change: Change | undefined): void {
  if (change?.before !== undefined) sum.remove(change.before);
  if (change?.now !== undefined) sum.add(change.now);
}

/** Sums by a key that describes them: equal keys, equal sums. */
export class NodeSums<Sum extends NodeSum> {
  readonly #history: NodeHistory;
  readonly #sums = new Lru<string, Sum>({ max: SUMS_MAX });

  constructor(history: NodeHistory) {
    this.#history = history;
  }

  /** The sum for this snapshot. Valid until the same history is queried for another. */
  get(text: string, snapshot: Snapshot, make: () => Sum): Sum {
    let sum = this.#sums.get(text);
    if (sum === undefined) {
      sum = make();
      this.#sums.set(text, sum);
    }
    this.#history.follow(sum, snapshot);
    return sum;
  }
}

/** Adds to a map value; zero values are removed. */
export function addTo(counts: Map<string, number>, key: string, amount: number): void {
  const sum = (counts.get(key) ?? 0) + amount;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
