/**
 * NodeResourcesBalancedAllocation: prefers nodes whose resource utilisation the Pod makes more balanced, so that no node runs out of one
 * resource while much of another is left. Balance is 1 less the standard deviation of the used fractions; the score is the improvement: 75
 * if unchanged, towards 100 if better, towards 50 if worse.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { SCORE_MAX, type Plugin, type PluginContext, type PluginFactory, type PreScoreAnswer } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { resourceAmount, type ScoredResource } from "../../framework/scored-resources.ts";
import { readBalancedAllocationArguments, type BalancedAllocationArguments } from "./arguments.ts";

const NAME = "NodeResourcesBalancedAllocation";

export const nodeResourcesBalancedAllocation: PluginFactory<BalancedAllocationArguments> = {
  name: NAME,
  readArguments: readBalancedAllocationArguments,
  make: (_context: PluginContext, args: BalancedAllocationArguments) => makePlugin(args),
};

interface ScoreState {
  /** The resources that count for the Pod. */
  readonly resources: readonly ScoredResource[];
  /** What it asks of them. */
  readonly requests: readonly number[];
  /** Used fractions of the current node, without and with the Pod: refilled for each, so that none is allocated. */
  readonly before: Float64Array;
  readonly after: Float64Array;
}

function makePlugin({ resources }: BalancedAllocationArguments): Plugin<undefined, ScoreState> {
  return {
    name: NAME,

    preScore({ requests: all }: PodInfo): PreScoreAnswer<ScoreState> {
      const counted = resources.filter(({ name, isScalar }) => !isScalar || resourceAmount(all, name) > 0);
      const requests = counted.map(({ name }) => resourceAmount(all, name));
      // A Pod without requests would attract all like it to the most balanced node.
      if (requests.every((request) => request === 0)) return { is: "skip" };
      const [before, after] = [new Float64Array(requests.length), new Float64Array(requests.length)];
      return { is: "ready", state: { resources: counted, requests, before, after } };
    },

    score(state: ScoreState, _pod: PodInfo, node: NodeInfo): number {
      const count = fillShares(state, node);
      const difference = evenness(state.after, count) - evenness(state.before, count);
      return SCORE_MAX / 2 + Math.floor((SCORE_MAX / 2 + difference) / 2);
    },
  };
}

/** Returns how many resources the node has: only these have fractions. */
function fillShares({ resources, requests, before, after }: ScoreState, { allocatable, requested }: NodeInfo): number {
  let count = 0;
  for (let index = 0; index < resources.length; index++) {
    const { name } = resources[index] as ScoredResource;
    const capacity = resourceAmount(allocatable, name);
    if (capacity === 0) continue;
    const used = resourceAmount(requested, name);
    before[count] = Math.min(used / capacity, 1);
    after[count] = Math.min((used + (requests[index] as number)) / capacity, 1);
    count++;
  }
  return count;
}

/** 50 to 100, from the prefix of the array. */
function evenness(shares: Float64Array, count: number): number {
  return Math.trunc((1 - deviation(shares, count)) * SCORE_MAX);
}

function deviation(shares: Float64Array, count: number): number {
  if (count < 2) return 0;
  if (count === 2) return Math.abs(((shares[0] as number) - (shares[1] as number)) / 2);
  let sum = 0;
  for (let index = 0; index < count; index++) sum += shares[index] as number;
  const mean = sum / count;
  let squares = 0;
  for (let index = 0; index < count; index++) {
    const distance = (shares[index] as number) - mean;
    squares += distance * distance;
  }
  return Math.sqrt(squares / count);
}
