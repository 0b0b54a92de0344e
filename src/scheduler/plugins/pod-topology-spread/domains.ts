/**
 * Number of matching Pods per domain. A domain exists as long as an eligible node is in it, also without matching Pods: the emptiest domain
 * is the reference.
 */
import type { LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { NOTHING_SEEN, type NodeSum } from "../../framework/node-sums.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

/** Which Pods are counted. */
export interface PodQuestion {
  readonly namespace: string;
  readonly selector: LabelSelector;
}

/** And the domain that a node counts for. */
export interface DomainQuestion extends PodQuestion {
  /** Undefined: the node is ignored. */
  domainOf(node: NodeInfo): string | undefined;
}

interface Domain {
  nodes: number;
  pods: number;
}

/** The emptiest domains. */
export interface Lowest {
  readonly pods: number;
  /** How many are so empty. */
  readonly domains: number;
}

export class Domains implements NodeSum {
  seen = NOTHING_SEEN;
  readonly question: DomainQuestion;
  readonly #domains = new Map<string, Domain>();
  #lowest: Lowest | undefined;

  constructor(question: DomainQuestion) {
    this.question = question;
  }

  get size(): number {
    return this.#domains.size;
  }

  pods(domain: string): number {
    return this.#domains.get(domain)?.pods ?? 0;
  }

  /** Infinity in none if there is no domain. */
  lowest(): Lowest {
    return (this.#lowest ??= lowestOf(this.#domains.values()));
  }

  /** Every domain with its Pods. */
  *entries(): IterableIterator<[string, number]> {
    for (const [domain, { pods }] of this.#domains) yield [domain, pods];
  }

  add(node: NodeInfo): void {
    const name = this.question.domainOf(node);
    if (name === undefined) return;
    let domain = this.#domains.get(name);
    if (domain === undefined) {
      domain = { nodes: 0, pods: 0 };
      this.#domains.set(name, domain);
    }
    domain.nodes++;
    domain.pods += countPods(this.question, node);
    this.#lowest = undefined;
  }

  remove(node: NodeInfo): void {
    const name = this.question.domainOf(node);
    const domain = name === undefined ? undefined : this.#domains.get(name);
    if (name === undefined || domain === undefined) return;
    domain.nodes--;
    domain.pods -= countPods(this.question, node);
    if (domain.nodes === 0) this.#domains.delete(name);
    this.#lowest = undefined;
  }

  clear(): void {
    this.#domains.clear();
    this.#lowest = undefined;
  }
}

export function countPods(question: PodQuestion, { pods }: NodeInfo): number {
  let count = 0;
  for (const pod of pods) if (isCounted(question, pod)) count++;
  return count;
}

/** A terminating Pod does not count. An empty selector matches nothing: upstream's rule. */
export function isCounted({ namespace, selector }: PodQuestion, { pod, namespace: podNamespace, labels }: PodInfo): boolean {
  if (podNamespace !== namespace || pod.metadata.deletionTimestamp !== undefined || selector.requirements.length === 0) return false;
  return selector.matches(labels);
}

function lowestOf(all: Iterable<Domain>): Lowest {
  let lowest = Infinity;
  let domains = 0;
  for (const { pods } of all) {
    if (pods < lowest) {
      lowest = pods;
      domains = 1;
    } else if (pods === lowest) {
      domains++;
    }
  }
  return { pods: lowest, domains };
}
