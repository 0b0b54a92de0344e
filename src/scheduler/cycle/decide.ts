/**
 * Decides one Pod: its node, or why none is feasible. Pure and synchronous: the same Pod, snapshot, nominations and rotation give the same
 * decision. Executing it (assume, reserve, bind) is the scheduler's job.
 */
import type { NodeInfo } from "../framework/node-info.ts";
import type { WhatIf } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import { type NominatedPods, PodFilters } from "./pod-filters.ts";
import { type NarrowedNodes, askPreFilters, notAmong } from "./pre-filter.ts";
import type { Profile } from "./profile.ts";
import { type RefusedNodes, Refusals } from "./rejections.ts";
import type { RoundRobin } from "./round-robin.ts";
import { nodesToFind } from "./sample.ts";
import { type NodeScore, Scores } from "./scores.ts";
import type { Stopwatch } from "./stopwatch.ts";
import { whatIf } from "./what-if.ts";

export type Decision = Placed | Unschedulable;

export interface Placed {
  readonly is: "placed";
  readonly nodeName: string;
  /** Examined nodes. */
  readonly evaluated: number;
  /** Feasible ones. */
  readonly feasible: number;
  /** Rejections of the others: bounded, and retains no node. */
  readonly refused: readonly RefusedNodes[];
  /** The chosen node and the runners-up. Empty if only one is feasible: nothing is scored then. */
  readonly scores: readonly NodeScore[];
}

export interface Unschedulable {
  readonly is: "unschedulable";
  readonly diagnosis: Diagnosis;
  /** For postFilter. Undefined if there are no nodes at all: nothing could help then. */
  readonly whatIf: WhatIf | undefined;
}

/** Bounded, and retains no node: it can be kept for every Pod. */
export interface Diagnosis {
  /** Total number of nodes. */
  readonly nodeCount: number;
  /** Why no node was examined; empty if they were. */
  readonly preFilterMessage: string;
  readonly refused: readonly RefusedNodes[];
  /** Rejecting plugins: the Pod is retried when one of them may change its mind. Empty: on any event. */
  readonly unschedulablePlugins: ReadonlySet<string>;
}

/** The cluster at one instant. */
export interface CycleInput {
  readonly snapshot: Snapshot;
  readonly nominatedPods: NominatedPods;
}

/** State passed from cycle to cycle; shared by all profiles of a scheduler. */
export class Turns {
  /** Start index of the search, so that all nodes are examined in rotation. */
  startIndex = 0;
  readonly equals: RoundRobin;
  readonly scores = new Scores();
  /** Absent: nothing is measured. */
  readonly stopwatch: Stopwatch | undefined;

  constructor(equals: RoundRobin, stopwatch?: Stopwatch) {
    this.equals = equals;
    this.stopwatch = stopwatch;
  }
}

/** One decision in progress. */
interface Cycle {
  readonly profile: Profile;
  readonly snapshot: Snapshot;
  readonly turns: Turns;
  readonly filters: PodFilters;
  readonly refusals: Refusals;
  readonly narrowed: NarrowedNodes | undefined;
}

export function decide(profile: Profile, pod: PodInfo, input: CycleInput, turns: Turns): Decision {
  const { snapshot, nominatedPods } = input;
  if (snapshot.nodes.length === 0) return { is: "unschedulable", diagnosis: NO_NODES, whatIf: undefined };
  turns.stopwatch?.start(profile.schedulerName);
  const before = askPreFilters(profile, pod, snapshot);
  turns.stopwatch?.lap("PreFilter", before.is === "rejected" ? "Unschedulable" : "Success");
  if (before.is === "rejected") {
    const { rejection, plugins } = before;
    // Not all states exist, so that a what-if query gets the same rejection again.
    const filters = new PodFilters(pod, [{ name: "", filter: () => rejection }], [undefined], nominatedPods);
    return refusedAtOnce(snapshot, filters, rejection.reasons.join(", "), plugins);
  }
  const filters = new PodFilters(pod, before.filters, before.states, nominatedPods);
  const refusals = new Refusals(filters.plugins);
  const nominated = fittingNominatedNode(filters, snapshot);
  if (nominated !== undefined) return placedOnly(nominated, refusals);

  const cycle = { profile, snapshot, turns, filters, refusals, narrowed: before.narrowed };
  const feasible = findFeasible(cycle);
  turns.stopwatch?.lap("Filter", feasible.length === 0 ? "Unschedulable" : "Success");
  turns.startIndex = (turns.startIndex + feasible.length + refusals.size) % snapshot.nodes.length;
  const [first] = feasible;
  if (first === undefined) return refused(cycle);
  if (feasible.length === 1) return placedOnly(first, refusals);
  return placedBest(cycle, feasible);
}

const NO_NODES: Diagnosis = { nodeCount: 0, preFilterMessage: "", refused: [], unschedulablePlugins: new Set() };

/** Preemption freed this node: most likely no other is feasible, so it is examined alone and first. */
function fittingNominatedNode(filters: PodFilters, snapshot: Snapshot): NodeInfo | undefined {
  const name = filters.pod.pod.status?.nominatedNodeName;
  const node = name === undefined || name === "" ? undefined : snapshot.get(name);
  if (node === undefined) return undefined;
  return filters.firstRejection(filters.base, node) === undefined ? node : undefined;
}

function findFeasible({ profile, snapshot, turns, filters, refusals, narrowed }: Cycle): readonly NodeInfo[] {
  const feasible: NodeInfo[] = [];
  const nodes = narrowed === undefined ? snapshot.nodes : existing(narrowed.names, snapshot);
  if (nodes.length === 0) return feasible;
  const percentage = profile.percentageOfNodesToScore;
  // Without scoring the first feasible one suffices.
  const enough = profile.score.length === 0 ? 1 : nodesToFind({ nodes: nodes.length, percentage });
  let index = turns.startIndex % nodes.length;
  for (let left = nodes.length; left > 0 && feasible.length < enough; left--) {
    const node = nodes[index] as NodeInfo;
    const rejection = filters.firstRejection(filters.base, node);
    if (rejection === undefined) feasible.push(node);
    else refusals.add(node, rejection, filters.refusedBy);
    index++;
    if (index === nodes.length) index = 0;
  }
  return feasible;
}

function existing(names: ReadonlySet<string>, snapshot: Snapshot): readonly NodeInfo[] {
  const result: NodeInfo[] = [];
  for (const name of names) {
    const node = snapshot.get(name);
    if (node !== undefined) result.push(node);
  }
  return result;
}

function placedOnly(node: NodeInfo, refusals: Refusals): Placed {
  return { is: "placed", nodeName: node.name, evaluated: 1 + refusals.size, feasible: 1, refused: refusals.count(), scores: [] };
}

function placedBest({ profile, snapshot, turns, filters, refusals }: Cycle, feasible: readonly NodeInfo[]): Placed {
  const { scores } = turns;
  scores.compute(profile, filters.pod, feasible, snapshot);
  const chosen = scores.best(turns.equals);
  turns.stopwatch?.lap("Score");
  return {
    is: "placed",
    nodeName: (feasible[chosen] as NodeInfo).name,
    evaluated: feasible.length + refusals.size,
    feasible: feasible.length,
    refused: refusals.count(),
    scores: scores.shown(chosen),
  };
}

function refusedAtOnce(snapshot: Snapshot, filters: PodFilters, preFilterMessage: string, plugins: ReadonlySet<string>): Unschedulable {
  const diagnosis = { nodeCount: snapshot.nodes.length, preFilterMessage, refused: [], unschedulablePlugins: plugins };
  return { is: "unschedulable", diagnosis, whatIf: whatIf(snapshot, filters, new Refusals([])) };
}

function refused({ snapshot, filters, refusals, narrowed }: Cycle): Unschedulable {
  const counted: RefusedNodes[] = refusals.count();
  const plugins = refusals.pluginNames();
  const notAsked = snapshot.nodes.length - refusals.size;
  if (narrowed !== undefined) {
    for (const plugin of narrowed.plugins) plugins.add(plugin);
    if (notAsked > 0) counted.push({ plugin: "", reason: notAmong(narrowed), nodes: notAsked, examples: [] });
  }
  const diagnosis = { nodeCount: snapshot.nodes.length, preFilterMessage: "", refused: counted, unschedulablePlugins: plugins };
  return { is: "unschedulable", diagnosis, whatIf: whatIf(snapshot, filters, refusals) };
}
