/** Number of matching Pods per node. Only nodes with any are kept: most kinds of Pods are few. */
import type { NodeInfo } from "../../framework/node-info.ts";
import { addTo, NOTHING_SEEN, type NodeSum } from "../../framework/node-sums.ts";
import { countPods, type PodQuestion } from "./domains.ts";

export class PodsByNode implements NodeSum {
  seen = NOTHING_SEEN;
  readonly #question: PodQuestion;
  readonly #counts = new Map<string, number>();

  constructor(question: PodQuestion) {
    this.#question = question;
  }

  pods(nodeName: string): number {
    return this.#counts.get(nodeName) ?? 0;
  }

  add(node: NodeInfo): void {
    this.#count(node, 1);
  }

  remove(node: NodeInfo): void {
    this.#count(node, -1);
  }

  clear(): void {
    this.#counts.clear();
  }

  #count(node: NodeInfo, sign: 1 | -1): void {
    const pods = countPods(this.#question, node);
    if (pods > 0) addTo(this.#counts, node.name, sign * pods);
  }
}
