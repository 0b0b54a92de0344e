/** Number of Pods that match all of some terms, per domain of these terms' topology keys. */
import type { NodeInfo } from "../../framework/node-info.ts";
import { addTo, NOTHING_SEEN, type NodeSum } from "../../framework/node-sums.ts";
import { allCover, domainOf, type PlainTerm } from "./terms.ts";

export class PodCounts implements NodeSum {
  seen = NOTHING_SEEN;
  /** By topology key, by domain; domains without matching Pods are absent. */
  readonly byKey: ReadonlyMap<string, Map<string, number>>;
  /** Over all keys. 0: no such Pod is on any node with any of the keys. */
  total = 0;
  readonly #terms: readonly PlainTerm[];

  constructor(terms: readonly PlainTerm[]) {
    this.#terms = terms;
    this.byKey = new Map(terms.map((term) => [term.topologyKey, new Map<string, number>()]));
  }

  add(node: NodeInfo): void {
    this.#count(node, 1);
  }

  remove(node: NodeInfo): void {
    this.#count(node, -1);
  }

  clear(): void {
    for (const counts of this.byKey.values()) counts.clear();
    this.total = 0;
  }

  #count(node: NodeInfo, sign: 1 | -1): void {
    let pods = 0;
    for (const pod of node.pods) if (allCover(this.#terms, pod)) pods++;
    if (pods === 0) return;
    for (const [topologyKey, counts] of this.byKey) {
      const domain = domainOf(node.labels, topologyKey);
      if (domain === undefined) continue;
      addTo(counts, domain, sign * pods);
      this.total += sign * pods;
    }
  }
}
