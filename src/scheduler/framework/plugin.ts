/**
 * The extension points of scheduling: a plugin is one reason to take or refuse a node, and implements the points that it needs. The
 * framework calls no other. Only types and words are here. A plugin knows the API's types and this folder; never another plugin, never the
 * client.
 *
 * The road of a Pod: preEnqueue → queue (compare) → preFilter → filter (per node) → postFilter if no node is left → preScore → score (per
 * node) → normalizeScores → reserve → permit → preBind → bind → postBind. Up to reserve everything happens at one moment: these functions
 * do not wait, so that nothing changes under them. From permit on the next Pods are decided meanwhile.
 */
import type { Namespace, Pod, ReplicationController, Service } from "../../api/generated/core/v1.ts";
import type { ReplicaSet, StatefulSet } from "../../api/generated/apps/v1.ts";
import type { PodDisruptionBudget } from "../../api/generated/policy/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { RetryRule } from "./cluster-event.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import type { Snapshot } from "./snapshot.ts";

/** A "no". */
export interface Rejection {
  /** Shown to users in events, counted over the nodes: their words are API. At least one. */
  readonly reasons: readonly string[];
  /** Whether taking Pods off the node could turn it into a "yes". If not, preemption does not look at this node. */
  readonly resolvable: boolean;
}

/** What a preFilter makes of the Pod and the whole cluster, once, for its filter. */
export type PreFilterAnswer<State> =
  /** `nodes`: only these are worth looking at, by name. */
  | { readonly is: "ready"; readonly state: State; readonly nodes?: ReadonlySet<string> }
  /** Nothing of this Pod is this plugin's business: its filter is not called in this cycle. */
  | { readonly is: "skip" }
  /** No node will do. */
  | { readonly is: "rejected"; readonly rejection: Rejection };

export type PreScoreAnswer<State> =
  | { readonly is: "ready"; readonly state: State }
  /** All nodes are equal to it: its score is not called in this cycle. */
  | { readonly is: "skip" };

/** A Pod in the queue. */
export interface QueuedPod {
  readonly info: PodInfo;
  /** When it was added to the queue, or last put back, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number;
}

/** Which way a Pod goes at permit. */
export type PermitAnswer =
  | { readonly is: "allowed" }
  | { readonly is: "rejected"; readonly rejection: Rejection }
  /** Held back until `decision` says so, at most this long. */
  | { readonly is: "wait"; readonly timeoutMs: number; readonly decision: Promise<"allowed" | Rejection> };

/** What postFilter may ask: the same filters, on nodes as they might be. */
export interface WhatIf {
  readonly snapshot: Snapshot;
  /** Why each node was refused; those that were not looked at (preFilter) are not there. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** The nodes that were refused for something that taking Pods off them might change, in the order in which they were asked about. */
  readonly resolvableNodes: readonly NodeInfo[];
  /** The state of all filters for this Pod and the cluster as it is. */
  base(): FilterStates;
  /** Whether the Pod would fit on a node as it might be, with Pods nominated to it counted in. Undefined: yes. */
  filter(states: FilterStates, node: NodeInfo): Rejection | undefined;
}

/** The states of all filters of one cycle; `podRemoved` and `podAdded` tell the plugins that a Pod was taken off a node, or put on it. */
export interface FilterStates {
  copy(): FilterStates;
  podRemoved(removed: PodInfo, node: NodeInfo): void;
  podAdded(added: PodInfo, node: NodeInfo): void;
}

export type PostFilterAnswer =
  /**
   * A node will be free when `act` has done its work: so many Pods leave it. It runs beside the next cycles; the Pod is not tried again
   * before it is over.
   */
  | { readonly is: "nominated"; readonly nodeName: string; readonly victims: number; act(signal: AbortSignal): Promise<void> }
  /** `message` ends the sentence of the Pod's event: "preemption: 0/3 nodes are available: …". `clearsNomination`: what was nominated before is no use. */
  | { readonly is: "none"; readonly message: string; readonly clearsNomination: boolean };

/**
 * One plugin, made for one profile with its arguments. FilterState and ScoreState are its own business.
 * Optional members that are absent are not called; a plugin without `preFilter` gets `undefined` as state.
 */
export interface Plugin<FilterState = unknown, ScoreState = unknown> {
  /** Upstream's name: it stands in configurations, conditions, metrics. */
  readonly name: string;
  /** When its "no" is worth asking again. Absent: anything may help. Empty: nothing but time. */
  readonly retryOn?: readonly RetryRule[];

  /** Before the Pod enters the queue of those to be tried. A refused Pod waits outside, without an event; it is asked again when `retryOn` says so. */
  preEnqueue?(pod: Pod): Rejection | undefined;
  /** Which Pod is first: negative, `a` is. Exactly one plugin of all profiles has it. */
  compare?(a: QueuedPod, b: QueuedPod): number;

  preFilter?(pod: PodInfo, snapshot: Snapshot): PreFilterAnswer<FilterState>;
  /** Undefined: it fits. Called for many nodes: must be quick, and make as little as possible. */
  filter?(state: FilterState, pod: PodInfo, node: NodeInfo): Rejection | undefined;
  /** For a preFilter whose state depends on the Pods of the cluster: the same for a cluster that differs by one Pod. `node` is as it then is. */
  copyState?(state: FilterState): FilterState;
  podAdded?(state: FilterState, pod: PodInfo, added: PodInfo, node: NodeInfo): void;
  podRemoved?(state: FilterState, pod: PodInfo, removed: PodInfo, node: NodeInfo): void;
  /** Called when no node is left. The first that nominates ends the question. */
  postFilter?(pod: PodInfo, whatIf: WhatIf): PostFilterAnswer;

  preScore?(pod: PodInfo, nodes: readonly NodeInfo[], snapshot: Snapshot): PreScoreAnswer<ScoreState>;
  /** Any number if there is normalizeScores, otherwise 0 (worst) to 100 (best). */
  score?(state: ScoreState, pod: PodInfo, node: NodeInfo): number;
  /** Brings the scores, in the order of `nodes`, to 0..100, in place. */
  normalizeScores?(state: ScoreState, pod: PodInfo, scores: Float64Array, nodes: readonly NodeInfo[]): void;

  /** The Pod is about to go there. Refusing ends the attempt; `unreserve` is then called on all that were asked, in reverse. */
  reserve?(pod: PodInfo, nodeName: string): Rejection | undefined;
  /** The attempt has failed after reserve. Must not fail and may be called without a reserve. */
  unreserve?(pod: PodInfo, nodeName: string): void;
  permit?(pod: PodInfo, nodeName: string): PermitAnswer;
  /** Undefined: go on. Throwing fails the attempt, which is tried again after a while. */
  preBind?(pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<Rejection | undefined>;
  /** Resolves with false if it leaves this Pod to the next plugin. */
  bind?(pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<boolean>;
  postBind?(pod: PodInfo, nodeName: string): void;
}

/** The highest a node can get from one plugin, before its weight. */
export const SCORE_MAX = 100;

/** What else there is in the cluster, from memory: reads never wait. */
export interface ClusterView {
  namespace(name: string): Namespace | undefined;
  namespaces(): readonly Namespace[];
  services(namespace: string): readonly Service[];
  replicationControllers(namespace: string): readonly ReplicationController[];
  replicaSets(namespace: string): readonly ReplicaSet[];
  statefulSets(namespace: string): readonly StatefulSet[];
  podDisruptionBudgets(namespace: string): readonly PodDisruptionBudget[];
  /** The Pod as it was last seen; undefined if it is gone. */
  pod(namespace: string, name: string): Pod | undefined;
}

/** What plugins may do to the cluster. Each rejects with a StatusError if it fails. */
export interface Effects {
  bind(pod: Pod, nodeName: string, signal: AbortSignal): Promise<void>;
  /** Sets the condition DisruptionTarget, deletes the Pod, and tells it the event "Preempted". A Pod that is gone is no error. */
  preempt(victim: Pod, preemptor: Pod, nodeName: string, signal: AbortSignal): Promise<void>;
  /** Clears status.nominatedNodeName of a Pod of lower priority than the preemptor's: its place is taken. A deleted Pod is no error. */
  clearNomination(pod: Pod, preemptor: Pod, signal: AbortSignal): Promise<void>;
}

/** What a plugin is made with. */
export interface PluginContext {
  readonly cluster: ClusterView;
  readonly effects: Effects;
  /** Pods that were nominated to a node and are not on it yet. */
  nominatedPods(nodeName: string): readonly PodInfo[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A plugin before it is made: its name, what can be said about it, and how it is made. One per folder of scheduler/plugins. */
export interface PluginFactory<Arguments = unknown> {
  readonly name: string;
  /** Of `pluginConfig`, with upstream's defaults filled in; unknown values come as they were written. All mistakes at once, each as a sentence with the field's path. */
  readArguments?(
    written: unknown,
  ): { readonly ok: true; readonly arguments: Arguments } | { readonly ok: false; readonly problems: readonly string[] };
  // oxlint-disable-next-line typescript/no-explicit-any -- each plugin's states are its own business.
  make(context: PluginContext, args: Arguments): Plugin<any, any>;
}
