/**
 * The active filters of one Pod in one cycle, each with the state of its preFilter. Hot path (thousands of times per Pod): must not
 * allocate as long as the node is feasible.
 *
 * Pods nominated to a node and not on it yet are included if the Pod must yield to them: the node must be feasible with them (resources)
 * and without them (they may never come, and affinity must not rely on them).
 */
import { assert } from "../../base/assert.ts";
import type { FilterStates, Plugin, Rejection } from "../framework/plugin.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import type { PodInfo } from "../framework/pod-info.ts";

/** Pods nominated to a node and not on it yet. Undefined: usually none. */
export type NominatedPods = ((nodeName: string) => readonly PodInfo[]) | undefined;

type Filter = NonNullable<Plugin["filter"]>;

export class PodFilters {
  readonly pod: PodInfo;
  /** In call order, without those that skip this Pod. */
  readonly plugins: readonly Plugin[];
  /** The states for the cluster as it is. */
  readonly base: SharedStates;
  /** Index of the plugin of the last rejection, so that a rejection allocates nothing else. */
  refusedBy = 0;
  readonly #filters: readonly Filter[];
  readonly #nominatedPods: NominatedPods;

  /** `states` in the order of `plugins`. */
  constructor(pod: PodInfo, plugins: readonly Plugin[], states: readonly unknown[], nominatedPods: NominatedPods) {
    this.pod = pod;
    this.plugins = plugins;
    this.#filters = plugins.map(filterOf);
    this.#nominatedPods = nominatedPods;
    this.base = new SharedStates(pod, plugins, states);
  }

  /** Undefined: feasible. */
  firstRejection(states: SharedStates, node: NodeInfo): Rejection | undefined {
    if (this.#nominatedPods === undefined) return this.#runEach(states.values, node);
    const nominated = this.#nominatedPods(node.name);
    const rejection = nominated.length === 0 ? undefined : this.#runWithNominated(states, node, nominated);
    return rejection ?? this.#runEach(states.values, node);
  }

  #runWithNominated(states: SharedStates, node: NodeInfo, nominated: readonly PodInfo[]): Rejection | undefined {
    let statesThen = states;
    let nodeThen = node;
    for (const other of nominated) {
      if (other.priority < this.pod.priority || other.uid === this.pod.uid) continue;
      if (statesThen === states) statesThen = states.copy();
      nodeThen = nodeThen.withPod(other);
      statesThen.podAdded(other, nodeThen);
    }
    return nodeThen === node ? undefined : this.#runEach(statesThen.values, nodeThen);
  }

  #runEach(states: readonly unknown[], node: NodeInfo): Rejection | undefined {
    const { pod, plugins } = this;
    const filters = this.#filters;
    for (let index = 0; index < filters.length; index++) {
      // `call` on a cached function: looking it up on objects of ten shapes costs more than most filters.
      const rejection = (filters[index] as Filter).call(plugins[index] as Plugin, states[index], pod, node);
      if (rejection === undefined) continue;
      this.refusedBy = index;
      return rejection;
    }
    return undefined;
  }
}

/**
 * The states of all filters. Copy-on-write: a copy shares them until one of the two is changed; only states that depend on Pods are ever
 * copied.
 */
export class SharedStates implements FilterStates {
  values: readonly unknown[];
  readonly #pod: PodInfo;
  readonly #plugins: readonly Plugin[];
  /** Indexes of plugins whose states depend on Pods; mostly none, and then Pod changes cost nothing. */
  readonly #followers: readonly number[];
  /** Whether `values` is exclusive. The base's never is: its cycle may still use it. */
  #own = false;

  constructor(pod: PodInfo, plugins: readonly Plugin[], values: readonly unknown[], followers = followersAmong(plugins)) {
    this.#pod = pod;
    this.#plugins = plugins;
    this.#followers = followers;
    this.values = values;
  }

  copy(): SharedStates {
    this.#own = false;
    return new SharedStates(this.#pod, this.#plugins, this.values, this.#followers);
  }

  podRemoved(removed: PodInfo, node: NodeInfo): void {
    if (this.#followers.length === 0) return;
    this.#makeOwn();
    for (const index of this.#followers) this.#plugins[index]?.podRemoved?.(this.values[index], this.#pod, removed, node);
  }

  podAdded(added: PodInfo, node: NodeInfo): void {
    if (this.#followers.length === 0) return;
    this.#makeOwn();
    for (const index of this.#followers) this.#plugins[index]?.podAdded?.(this.values[index], this.#pod, added, node);
  }

  #makeOwn(): void {
    if (this.#own) return;
    this.#own = true;
    const values = [...this.values];
    for (const index of this.#followers) {
      const plugin = this.#plugins[index] as Plugin;
      if (plugin.copyState !== undefined) values[index] = plugin.copyState(values[index]);
    }
    this.values = values;
  }
}

function followersAmong(plugins: readonly Plugin[]): readonly number[] {
  return plugins.flatMap(({ podAdded, podRemoved }, index) => (podAdded === undefined && podRemoved === undefined ? [] : [index]));
}

function filterOf(plugin: Plugin): Filter {
  assert(plugin.filter !== undefined, `plugin ${plugin.name}, asked to filter, can`);
  return plugin.filter;
}
