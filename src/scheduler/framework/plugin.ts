/**
 * The extension points of scheduling: a plugin is one reason to accept or reject a node, and implements the points that it needs. Types
 * only. A plugin knows the API's types and this folder; never another plugin, never the client.
 *
 * The path of a Pod: preEnqueue → queue (compare) → preFilter → filter (per node) → postFilter if no node is left → preScore → score (per
 * node) → normalizeScores → reserve → permit → preBind → bind → postBind. Up to reserve everything is synchronous, so that nothing changes
 * in between. From permit on the next Pods are decided concurrently.
 */
import type { Namespace, Node, Pod, ReplicationController, Service } from "../../api/generated/core/v1.ts";
import type { ReplicaSet, StatefulSet } from "../../api/generated/apps/v1.ts";
import type { PodDisruptionBudget } from "../../api/generated/policy/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { RetryRule } from "./cluster-event.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import type { Snapshot } from "./snapshot.ts";
import type { DeviceEffects, DeviceView } from "./device-view.ts";
import type { StorageEffects, StorageView } from "./storage-view.ts";

/** A rejection. */
export interface Rejection {
  /** Shown to users in events, counted over the nodes: their wording is API. At least one. */
  readonly reasons: readonly string[];
  /** Whether removing Pods from the node could resolve it. If not, preemption skips this node. */
  readonly resolvable: boolean;
}

/** State that a preFilter computes from the Pod and the whole cluster, once, for its filter. */
export type PreFilterAnswer<State> =
  /** `nodes`: only these are examined, by name. */
  | { readonly is: "ready"; readonly state: State; readonly nodes?: ReadonlySet<string> }
  /** Not relevant for this Pod: its filter is not called in this cycle. */
  | { readonly is: "skip" }
  /** No node is feasible. */
  | { readonly is: "rejected"; readonly rejection: Rejection };

export type PreScoreAnswer<State> =
  | { readonly is: "ready"; readonly state: State }
  /** All nodes are equal to it: its score is not called in this cycle. */
  | { readonly is: "skip" };

/** A Pod in the queue. */
export interface QueuedPod {
  readonly info: PodInfo;
  /** When it was added to the queue, or last requeued, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number;
}

/** The outcome of permit. */
export type PermitAnswer =
  | { readonly is: "allowed" }
  | { readonly is: "rejected"; readonly rejection: Rejection }
  /** Delayed until `decision` resolves, at most this long. */
  | { readonly is: "wait"; readonly timeoutMs: number; readonly decision: Promise<"allowed" | Rejection> };

/** The outcome of preBindPreFlight. "parallel": concurrently with neighbouring plugins that allow it, too. */
export type PreFlightAnswer = "skip" | "parallel" | "alone";

/** What-if queries of postFilter: the same filters, on hypothetical nodes. */
export interface WhatIf {
  readonly snapshot: Snapshot;
  /** The rejection of each node; those excluded by preFilter are missing. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** Nodes rejected for something that removing Pods might resolve, in the order of examination. */
  readonly resolvableNodes: readonly NodeInfo[];
  /** The state of all filters for this Pod and the cluster as it is. */
  base(): FilterStates;
  /** Whether the Pod would fit on a hypothetical node, with Pods nominated to it included. Undefined: yes. */
  filter(states: FilterStates, node: NodeInfo): Rejection | undefined;
}

/** The states of all filters of one cycle; `podRemoved` and `podAdded` update them for a Pod removed from a node, or added to it. */
export interface FilterStates {
  copy(): FilterStates;
  podRemoved(removed: PodInfo, node: NodeInfo): void;
  podAdded(added: PodInfo, node: NodeInfo): void;
}

export type PostFilterAnswer =
  /**
   * A node will be free when `act` has completed: it evicts Pods. It runs concurrently with the next cycles; the Pod is not retried before
   * it ends.
   */
  | { readonly is: "nominated"; readonly nodeName: string; readonly victims: number; act(signal: AbortSignal): Promise<void> }
  /**
   * `message` is appended to the Pod's event: "preemption: 0/3 nodes are available: …". `clearsNomination`: an earlier nomination is
   * useless. `act` runs concurrently with the next cycles: a change that may help the Pod, whose events trigger the retry. `isFinal`: later
   * plugins are not called.
   */
  | {
      readonly is: "none";
      readonly message: string;
      readonly clearsNomination: boolean;
      readonly isFinal?: boolean;
      act?(signal: AbortSignal): Promise<void>;
    };

/**
 * One plugin instance of a profile with its arguments. FilterState and ScoreState are private to it. Absent optional members are not
 * called; a plugin without `preFilter` gets `undefined` as state.
 */
export interface Plugin<FilterState = unknown, ScoreState = unknown> {
  /** Upstream's name: used in configurations, conditions, metrics. */
  readonly name: string;
  /** When its rejection should be reconsidered. Absent: on any event. Empty: only after the flush interval. */
  readonly retryOn?: readonly RetryRule[];

  /** Before the Pod enters the active queue. A rejected Pod is gated, without an event; it is reconsidered when `retryOn` says so. */
  preEnqueue?(pod: Pod): Rejection | undefined;
  /** Queue order: negative, `a` is first. Exactly one plugin of all profiles implements it. */
  compare?(a: QueuedPod, b: QueuedPod): number;

  preFilter?(pod: PodInfo, snapshot: Snapshot): PreFilterAnswer<FilterState>;
  /** Undefined: feasible. Hot path (called per node): must not allocate needlessly. */
  filter?(state: FilterState, pod: PodInfo, node: NodeInfo): Rejection | undefined;
  /** For a preFilter whose state depends on the Pods of the cluster: the same for a cluster that differs by one Pod. `node` is as it then is. */
  copyState?(state: FilterState): FilterState;
  podAdded?(state: FilterState, pod: PodInfo, added: PodInfo, node: NodeInfo): void;
  podRemoved?(state: FilterState, pod: PodInfo, removed: PodInfo, node: NodeInfo): void;
  /** Called when no node is feasible. The first nomination ends the search. */
  postFilter?(pod: PodInfo, whatIf: WhatIf): PostFilterAnswer;

  preScore?(pod: PodInfo, nodes: readonly NodeInfo[], snapshot: Snapshot): PreScoreAnswer<ScoreState>;
  /** Any number with normalizeScores, otherwise 0 (worst) to 100 (best). */
  score?(state: ScoreState, pod: PodInfo, node: NodeInfo): number;
  /** Normalises the scores, in the order of `nodes`, to 0..100, in place. */
  normalizeScores?(state: ScoreState, pod: PodInfo, scores: Float64Array, nodes: readonly NodeInfo[]): void;

  /** Called before binding. A rejection ends the attempt; `unreserve` is then called on all that were called, in reverse order. */
  reserve?(pod: PodInfo, nodeName: string): Rejection | undefined;
  /** The attempt has failed after reserve. Must not fail and may be called without a reserve. */
  unreserve?(pod: PodInfo, nodeName: string): void;
  permit?(pod: PodInfo, nodeName: string): PermitAnswer;
  /**
   * Called after permit, before preBind: whether this plugin has anything to do there. A Pod for which all plugins skip is bound at once.
   * Absent: preBind is called, alone.
   */
  preBindPreFlight?(pod: PodInfo, nodeName: string): PreFlightAnswer;
  /**
   * Undefined: proceed. Throwing fails the attempt, which is retried later. It may take minutes: the next Pods are decided and bound
   * meanwhile. The number of Pods in preBind is not limited, so that a plugin bounds its concurrent requests itself.
   */
  preBind?(pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<Rejection | undefined>;
  /** Resolves with false if it leaves this Pod to the next plugin. */
  bind?(pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<boolean>;
  postBind?(pod: PodInfo, nodeName: string): void;
}

/** Maximum score of one plugin, before its weight. */
export const SCORE_MAX = 100;

/** Other cluster objects, from memory: reads never wait. */
export interface ClusterView {
  namespace(name: string): Namespace | undefined;
  namespaces(): readonly Namespace[];
  services(namespace: string): readonly Service[];
  replicationControllers(namespace: string): readonly ReplicationController[];
  replicaSets(namespace: string): readonly ReplicaSet[];
  statefulSets(namespace: string): readonly StatefulSet[];
  podDisruptionBudgets(namespace: string): readonly PodDisruptionBudget[];
  /** The last observed Pod; undefined if it was deleted. */
  pod(namespace: string, name: string): Pod | undefined;
  /** The last observed node. For filters and scores, use the snapshot's. */
  node(name: string): Node | undefined;
  readonly storage: StorageView;
  readonly devices: DeviceView;
}

/** Effects available to plugins. Each rejects with a StatusError if it fails. */
export interface Effects {
  bind(pod: Pod, nodeName: string, signal: AbortSignal): Promise<void>;
  /** Sets the condition DisruptionTarget, deletes the Pod, and emits the event "Preempted". A deleted Pod is not an error. */
  preempt(victim: Pod, preemptor: Pod, nodeName: string, signal: AbortSignal): Promise<void>;
  /** Clears status.nominatedNodeName of a Pod of lower priority than the preemptor's: its place is taken. A deleted Pod is not an error. */
  clearNomination(pod: Pod, preemptor: Pod, signal: AbortSignal): Promise<void>;
  readonly storage: StorageEffects;
  readonly devices: DeviceEffects;
}

/** Arguments of a plugin's constructor. */
export interface PluginContext {
  readonly cluster: ClusterView;
  readonly effects: Effects;
  /** Pods nominated to a node and not on it yet. */
  nominatedPods(nodeName: string): readonly PodInfo[];
  /** Attempts a waiting Pod again, without backoff: what it waits for is no cluster event. */
  activate(podUid: string): void;
  /** Runs work that takes long, each of its steps in an event-loop tick of its own, until it ends or the scheduler is stopped. */
  runInBackground(work: Iterator<void>): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A plugin definition: its name, its arguments, and its constructor. One per folder of scheduler/plugins. */
export interface PluginFactory<Arguments = unknown> {
  readonly name: string;
  /**
   * From `pluginConfig`, with upstream's defaults; unknown values are passed as written. All errors at once, each with the field's path.
   */
  readArguments?(
    written: unknown,
  ): { readonly ok: true; readonly arguments: Arguments } | { readonly ok: false; readonly problems: readonly string[] };
  // oxlint-disable-next-line typescript/no-explicit-any -- each plugin's states are its own business.
  make(context: PluginContext, args: Arguments): Plugin<any, any>;
}
