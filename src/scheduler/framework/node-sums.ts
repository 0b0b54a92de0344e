/**
 * Sums over all nodes, kept from cycle to cycle. A plugin that counts Pods per zone would otherwise walk over all Pods for every Pod that it
 * places; but between two cycles hardly more than one node differs, and NodeInfos never change. So it is enough to replace what each changed
 * one gave: the snapshot knows which, or all are compared one by one with those of the last time. A sum that nobody asked for a while is then
 * brought up to date by what happened since, or made anew if that was forgotten. It equals a fresh one at every moment.
 */
import { Lru } from "../../base/lru.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Snapshot } from "./snapshot.ts";

/** What a sum remembers before it has seen anything. */
export const NOTHING_SEEN = -1;

/** Changes that are remembered. A sum that missed more is made anew; each remembered one keeps an old NodeInfo in memory. */
const CHANGES_MAX = 1_024;

/** Sums that are kept; those unused for the longest time go. One of a key that every node has its own value of weighs as much as the nodes. */
const SUMS_MAX = 256;

/** Something added up over nodes. What `add` made of a node, `remove` takes back. Not to be changed by anyone else than NodeHistory. */
export interface NodeSum {
  /** How far it has followed the history; the history's business. Starts as NOTHING_SEEN. */
  seen: number;
  add(node: NodeInfo): void;
  remove(node: NodeInfo): void;
  clear(): void;
}

interface Change {
  readonly before: NodeInfo | undefined;
  readonly now: NodeInfo | undefined;
}

/** The nodes as they were last seen, and how they came to be so. */
export class NodeHistory {
  readonly #nodes: NodeInfo[] = [];
  #changes: Change[] = [];
  /** Changes that were forgotten. */
  #forgotten = 0;
  #snapshot: Snapshot | undefined;
  #generation = NOTHING_SEEN;

  /** Brings a sum to the moment of this snapshot. */
  follow(sum: NodeSum, snapshot: Snapshot): void {
    this.#look(snapshot);
    const { seen } = sum;
    // If adding throws, the sum is half done: it is made anew next time.
    sum.seen = NOTHING_SEEN;
    if (seen < this.#forgotten) {
      sum.clear();
      for (const node of this.#nodes) sum.add(node);
    } else {
      for (let index = seen - this.#forgotten; index < this.#changes.length; index++) replay(sum, this.#changes[index]);
    }
    sum.seen = this.#forgotten + this.#changes.length;
  }

  /** Finds what differs, place by place. Nodes that only moved leave their old place and come to the new one: for a sum that is nothing. */
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

  /** Forgets half at a time, so that it does not move the rest for each. */
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

/** Sums by a text that says what they add up: equal texts, equal sums. */
export class NodeSums<Sum extends NodeSum> {
  readonly #history: NodeHistory;
  readonly #sums = new Lru<string, Sum>({ max: SUMS_MAX });

  constructor(history: NodeHistory) {
    this.#history = history;
  }

  /** The sum at the moment of this snapshot. It holds until the same history is asked for another. */
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

/** Adds to a value of a map; what comes to nothing is not kept. */
export function addTo(counts: Map<string, number>, key: string, amount: number): void {
  const sum = (counts.get(key) ?? 0) + amount;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
