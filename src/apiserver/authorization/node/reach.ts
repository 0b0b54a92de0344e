/**
 * Reference counts of paths from nodes to objects, so that a path can be removed without visiting the others. A check is two lookups,
 * however many pods there are.
 */
export class Reach {
  /** Keyed by object, then by node. */
  readonly #ways = new Map<string, Map<string, number>>();

  has(thing: string, node: string): boolean {
    return this.#ways.get(thing)?.has(node) ?? false;
  }

  nodesOf(thing: string): Iterable<string> {
    return this.#ways.get(thing)?.keys() ?? [];
  }

  /** Returns true for the first path. */
  add(thing: string, node: string): boolean {
    let nodes = this.#ways.get(thing);
    if (nodes === undefined) this.#ways.set(thing, (nodes = new Map<string, number>()));
    const ways = nodes.get(node) ?? 0;
    nodes.set(node, ways + 1);
    return ways === 0;
  }

  /** Returns true for the last path. */
  remove(thing: string, node: string): boolean {
    const nodes = this.#ways.get(thing);
    const ways = nodes?.get(node);
    if (nodes === undefined || ways === undefined) return false;
    if (ways > 1) {
      nodes.set(node, ways - 1);
      return false;
    }
    nodes.delete(node);
    if (nodes.size === 0) this.#ways.delete(thing);
    return true;
  }

  /** For tests of leaks. */
  get size(): number {
    return this.#ways.size;
  }
}
