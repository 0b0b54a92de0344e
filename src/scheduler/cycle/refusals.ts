/**
 * Which nodes one cycle refused: by which plugin, with which rejection. While nodes are asked only references are kept; they are counted
 * once, when the cycle is over. What is counted is bounded and holds no node, so it can be remembered for every Pod.
 */
import type { NodeInfo } from "../framework/node-info.ts";
import type { Plugin, Rejection } from "../framework/plugin.ts";

/** How many nodes one plugin refused for one reason. */
export interface RefusedNodes {
  /** Empty if it was no single plugin: the node was not in what all preFilters asked for. */
  readonly plugin: string;
  readonly reason: string;
  readonly nodes: number;
  /** The names of the first of them, at most EXAMPLES_MAX. */
  readonly examples: readonly string[];
}

/** Enough to go and look at; all of thousands would help nobody. */
export const EXAMPLES_MAX = 3;

/** Rejections that are compared by reference before their reasons are looked up: most plugins have one to three constants. */
const REMEMBERED_MAX = 8;

interface Count {
  readonly plugin: string;
  readonly reason: string;
  nodes: number;
  readonly examples: string[];
}

export class Refusals {
  readonly #plugins: readonly Plugin[];
  readonly #nodes: NodeInfo[] = [];
  readonly #rejections: Rejection[] = [];
  /** Indexes of `#plugins`. */
  readonly #by: number[] = [];

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = plugins;
  }

  get size(): number {
    return this.#nodes.length;
  }

  add(node: NodeInfo, rejection: Rejection, by: number): void {
    this.#nodes.push(node);
    this.#rejections.push(rejection);
    this.#by.push(by);
  }

  byNode(): ReadonlyMap<string, Rejection> {
    const result = new Map<string, Rejection>();
    for (let index = 0; index < this.#nodes.length; index++) {
      result.set((this.#nodes[index] as NodeInfo).name, this.#rejections[index] as Rejection);
    }
    return result;
  }

  /** Those that taking Pods off might make fit. */
  resolvableNodes(): readonly NodeInfo[] {
    const result: NodeInfo[] = [];
    for (let index = 0; index < this.#nodes.length; index++) {
      if ((this.#rejections[index] as Rejection).resolvable) result.push(this.#nodes[index] as NodeInfo);
    }
    return result;
  }

  /** The names of all plugins that refused any node. */
  pluginNames(): Set<string> {
    return new Set([...new Set(this.#by)].map((by) => (this.#plugins[by] as Plugin).name));
  }

  /** In the order in which they were first met. */
  count(): RefusedNodes[] {
    const counts = new Counts(this.#plugins);
    for (let index = 0; index < this.#nodes.length; index++) {
      counts.add((this.#nodes[index] as NodeInfo).name, this.#rejections[index] as Rejection, this.#by[index] as number);
    }
    return counts.all;
  }
}

class Counts {
  readonly all: Count[] = [];
  readonly #plugins: readonly Plugin[];
  readonly #byReason: (Map<string, Count> | undefined)[] = [];
  /** Rejections that came before, with what they count into: a constant that refuses thousands of nodes is looked up once. */
  readonly #remembered: { readonly rejection: Rejection; readonly by: number; readonly counts: readonly Count[] }[] = [];

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = plugins;
  }

  add(nodeName: string, rejection: Rejection, by: number): void {
    for (const count of this.#countsOf(rejection, by)) {
      count.nodes++;
      if (count.examples.length < EXAMPLES_MAX) count.examples.push(nodeName);
    }
  }

  #countsOf(rejection: Rejection, by: number): readonly Count[] {
    for (const remembered of this.#remembered) {
      if (remembered.rejection === rejection && remembered.by === by) return remembered.counts;
    }
    const counts = rejection.reasons.map((reason) => this.#countOf(reason, by));
    if (this.#remembered.length < REMEMBERED_MAX) this.#remembered.push({ rejection, by, counts });
    return counts;
  }

  #countOf(reason: string, by: number): Count {
    const ofPlugin = (this.#byReason[by] ??= new Map());
    const known = ofPlugin.get(reason);
    if (known !== undefined) return known;
    const fresh: Count = { plugin: (this.#plugins[by] as Plugin).name, reason, nodes: 0, examples: [] };
    ofPlugin.set(reason, fresh);
    this.all.push(fresh);
    return fresh;
  }
}
