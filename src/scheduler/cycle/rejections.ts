/**
 * The rejections of one cycle: node, plugin, reasons. While filtering only references are kept; they are counted once, at the end of the
 * cycle. The counts are bounded and retain no node, so that they can be kept for every Pod.
 */
import type { NodeInfo } from "../framework/node-info.ts";
import type { Plugin, Rejection } from "../framework/plugin.ts";

/** Number of nodes rejected by one plugin for one reason. */
export interface RefusedNodes {
  /** Empty if no single plugin: the node was excluded by preFilters. */
  readonly plugin: string;
  readonly reason: string;
  readonly nodes: number;
  /** The first of their names, at most EXAMPLES_MAX. */
  readonly examples: readonly string[];
}

/** Enough to start debugging; a list of thousands would not help. */
export const EXAMPLES_MAX = 3;

/** Rejections compared by reference before their reasons are looked up: most plugins have one to three constants. */
const CACHED_MAX = 8;

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

  /** Those that preemption might resolve. */
  resolvableNodes(): readonly NodeInfo[] {
    const result: NodeInfo[] = [];
    for (let index = 0; index < this.#nodes.length; index++) {
      if ((this.#rejections[index] as Rejection).resolvable) result.push(this.#nodes[index] as NodeInfo);
    }
    return result;
  }

  /** The names of all rejecting plugins. */
  pluginNames(): Set<string> {
    return new Set([...new Set(this.#by)].map((by) => (this.#plugins[by] as Plugin).name));
  }

  /** In order of first occurrence. */
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
  /** Cache of earlier rejections: a constant that rejects thousands of nodes is looked up once. */
  readonly #cached: { readonly rejection: Rejection; readonly by: number; readonly counts: readonly Count[] }[] = [];

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
    for (const cached of this.#cached) {
      if (cached.rejection === rejection && cached.by === by) return cached.counts;
    }
    const counts = rejection.reasons.map((reason) => this.#countOf(reason, by));
    if (this.#cached.length < CACHED_MAX) this.#cached.push({ rejection, by, counts });
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
