/**
 * The terms of existing Pods, with their count (or weight) per domain. Pods of one template have equal terms, so there are few distinct
 * ones however many Pods there are: an incoming Pod is compared with each of those once.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { addTo, NOTHING_SEEN, type NodeSum } from "../../framework/node-sums.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";
import { termCovers, domainOf, termText, type Subject } from "./terms.ts";

/** By domain of one topology key. */
export interface DomainSums {
  readonly topologyKey: string;
  readonly sums: ReadonlyMap<string, number>;
}

interface Entry {
  readonly term: AffinityTerm;
  readonly sums: Map<string, number>;
}

/** Yields each relevant term of a Pod with its weight. */
export type TermsOf = (pod: PodInfo, yieldTerm: (term: AffinityTerm, weight: number) => void) => void;

export class ExistingTerms implements NodeSum {
  seen = NOTHING_SEEN;
  readonly #entries = new Map<string, Entry>();
  readonly #podsOf: (node: NodeInfo) => readonly PodInfo[];
  readonly #termsOf: TermsOf;

  constructor(podsOf: (node: NodeInfo) => readonly PodInfo[], termsOf: TermsOf) {
    this.#podsOf = podsOf;
    this.#termsOf = termsOf;
  }

  add(node: NodeInfo): void {
    this.#count(node, 1);
  }

  remove(node: NodeInfo): void {
    this.#count(node, -1);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** For each distinct term that matches the incoming Pod. */
  covering(newcomer: Subject, namespaceLabels: Readonly<Record<string, string>> | undefined): DomainSums[] {
    const covering: DomainSums[] = [];
    for (const { term, sums } of this.#entries.values()) {
      if (termCovers(term, newcomer, namespaceLabels)) covering.push({ topologyKey: term.topologyKey, sums });
    }
    return covering;
  }

  #count(node: NodeInfo, sign: 1 | -1): void {
    for (const pod of this.#podsOf(node)) {
      this.#termsOf(pod, (term, weight) => this.#addTerm(node, term, sign * weight));
    }
  }

  #addTerm(node: NodeInfo, term: AffinityTerm, amount: number): void {
    const domain = domainOf(node.labels, term.topologyKey);
    if (domain === undefined) return;
    const text = termText(term);
    let entry = this.#entries.get(text);
    if (entry === undefined) {
      entry = { term, sums: new Map() };
      this.#entries.set(text, entry);
    }
    addTo(entry.sums, domain, amount);
    if (entry.sums.size === 0) this.#entries.delete(text);
  }
}
