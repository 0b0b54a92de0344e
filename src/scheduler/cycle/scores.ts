/**
 * Scores feasible nodes: every plugin's 0..100 times its weight, summed. The arrays are reused between cycles, since one set per Pod would
 * keep the garbage collector busy; they never leave the cycle that filled them.
 */
import { assert } from "../../base/assert.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import { type Plugin, SCORE_MAX } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import type { Profile } from "./profile.ts";
import type { RoundRobin } from "./round-robin.ts";

/** A node's scores, for explaining a placement. */
export interface NodeScore {
  readonly nodeName: string;
  readonly total: number;
  /** Weighted. */
  readonly byPlugin: readonly { readonly plugin: string; readonly score: number }[];
}

/** The chosen node and the runners-up. */
export const SHOWN_NODES_MAX = 3;

/** Sufficient for most; grows by doubling. */
const CAPACITY_MIN = 512;

export class Scores {
  #nodes: readonly NodeInfo[] = [];
  #totals = new Column();
  /** One per active plugin; more may remain from earlier cycles. */
  readonly #columns: Column[] = [];
  readonly #names: string[] = [];

  /** Scores `nodes`, in this order. */
  compute(profile: Profile, pod: PodInfo, nodes: readonly NodeInfo[], snapshot: Snapshot): void {
    this.#nodes = nodes;
    this.#names.length = 0;
    const totals = this.#totals.ofLength(nodes.length);
    totals.fill(0);
    const states = new Map<Plugin, unknown>();
    const skipped = new Set<Plugin>();
    for (const plugin of profile.preScore) {
      const answer = plugin.preScore?.(pod, nodes, snapshot);
      if (answer === undefined || answer.is === "skip") skipped.add(plugin);
      else states.set(plugin, answer.state);
    }
    for (const { plugin, weight } of profile.score) {
      if (skipped.has(plugin)) continue;
      const column = (this.#columns[this.#names.length] ??= new Column());
      this.#names.push(plugin.name);
      const scores = column.ofLength(nodes.length);
      scoreNodes(plugin, states.get(plugin), pod, nodes, scores);
      plugin.normalizeScores?.(states.get(plugin), pod, scores, nodes);
      addWeighted(totals, scores, weight, plugin.name);
    }
  }

  /** Index of the best node; ties rotate. */
  best(turns: RoundRobin): number {
    const totals = this.#totals.view;
    let best = -Infinity;
    let equals = 0;
    for (let index = 0; index < totals.length; index++) {
      const total = totals[index] as number;
      if (total < best) continue;
      equals = total === best ? equals + 1 : 1;
      best = total;
    }
    let index = totals.indexOf(best);
    for (let left = turns.next(equals); left > 0; left--) index = totals.indexOf(best, index + 1);
    return index;
  }

  /** The chosen node first, then the best of the others. */
  shown(chosen: number): NodeScore[] {
    const order = [chosen];
    while (order.length < Math.min(SHOWN_NODES_MAX, this.#nodes.length)) order.push(this.#bestExcept(order));
    return order.map((index) => this.#nodeScore(index));
  }

  #bestExcept(taken: readonly number[]): number {
    const totals = this.#totals.view;
    let best = -1;
    let bestTotal = -Infinity;
    for (let index = 0; index < totals.length; index++) {
      if ((totals[index] as number) <= bestTotal || taken.includes(index)) continue;
      best = index;
      bestTotal = totals[index] as number;
    }
    return best;
  }

  #nodeScore(index: number): NodeScore {
    const byPlugin = this.#names.map((plugin, column) => ({ plugin, score: (this.#columns[column] as Column).view[index] as number }));
    return { nodeName: (this.#nodes[index] as NodeInfo).name, total: this.#totals.view[index] as number, byPlugin };
  }
}

/** An array of which a prefix is in use. */
class Column {
  view: Float64Array = new Float64Array(0);
  #whole = new Float64Array(CAPACITY_MIN);

  ofLength(length: number): Float64Array {
    if (this.view.length === length) return this.view;
    let capacity = this.#whole.length;
    while (capacity < length) capacity *= 2;
    if (capacity > this.#whole.length) this.#whole = new Float64Array(capacity);
    this.view = this.#whole.subarray(0, length);
    return this.view;
  }
}

function scoreNodes(plugin: Plugin, state: unknown, pod: PodInfo, nodes: readonly NodeInfo[], scores: Float64Array): void {
  const { score } = plugin;
  assert(score !== undefined, `plugin ${plugin.name}, asked to score, can`);
  for (let index = 0; index < nodes.length; index++) scores[index] = score.call(plugin, state, pod, nodes[index] as NodeInfo);
}

/** Leaves the weighted scores in `scores`. */
function addWeighted(totals: Float64Array, scores: Float64Array, weight: number, pluginName: string): void {
  for (let index = 0; index < scores.length; index++) {
    const score = scores[index] as number;
    // Negated, so that NaN fails, too.
    if (!(score >= 0 && score <= SCORE_MAX)) throw new RangeError(invalidScore(pluginName, score));
    scores[index] = score * weight;
    totals[index] = (totals[index] as number) + score * weight;
  }
}

function invalidScore(pluginName: string, score: number): string {
  return `plugin "${pluginName}" returns an invalid score ${score}, it should in the range of [0, ${SCORE_MAX}] after normalizing`;
}
