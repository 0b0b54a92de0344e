/**
 * Selects the node to preempt on. Nodes with a resolvable rejection are tried, starting at a random one, until there are enough candidates;
 * the cheapest is taken, the first of equals. Skipping hopeless nodes early does not change the choice: they still count as candidates.
 */
import type { Random } from "../../../base/random.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { WhatIf } from "../../framework/plugin.ts";
import { candidatesWanted, type DefaultPreemptionArguments } from "./arguments.ts";
import { selectVictims, type Candidate, type Search } from "./victims.ts";

export type Found =
  | { readonly is: "candidate"; readonly candidate: Candidate }
  /** Number of tried but infeasible nodes, by reason. */
  | { readonly is: "none"; readonly tried: number; readonly reasons: ReadonlyMap<string, number> }
  /** Nodes without victims, unexpectedly; and no other was feasible. */
  | { readonly is: "contradiction"; readonly nodeNames: readonly string[] };

export function findCandidate(
  search: Search & { readonly whatIf: Pick<WhatIf, "resolvableNodes"> },
  { args, random }: { readonly args: DefaultPreemptionArguments; readonly random: Random },
): Found {
  const nodes = search.whatIf.resolvableNodes;
  const choice = new Choice(candidatesWanted(args, nodes.length));
  const offset = nodes.length === 0 ? 0 : random.below(nodes.length);
  for (let index = 0; index < nodes.length && !choice.isLargeEnough; index++) {
    const node = nodes[(offset + index) % nodes.length] as NodeInfo;
    choice.add(node.name, selectVictims(search, node, choice.best?.cost));
  }
  return choice.found();
}

/** The candidates so far. */
class Choice {
  readonly #wanted: number;
  readonly #reasons = new Map<string, number>();
  readonly #contradictions: string[] = [];
  #tried = 0;
  #violating = 0;
  #others = 0;
  best: Candidate | undefined;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** While all violate a budget the search continues, however many there are. */
  get isLargeEnough(): boolean {
    return this.#others > 0 && this.#others + this.#violating >= this.#wanted;
  }

  add(nodeName: string, answer: ReturnType<typeof selectVictims>): void {
    this.#tried++;
    switch (answer.is) {
      case "candidate":
        if (this.best === undefined || answer.candidate.cost.isBelow(this.best.cost)) this.best = answer.candidate;
        return this.#count(answer.candidate.cost.violations > 0);
      case "no-better":
        return this.#count(answer.isViolating);
      case "refused":
        for (const reason of answer.reasons) this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
        return undefined;
      case "fits":
        this.#contradictions.push(nodeName);
        return undefined;
    }
  }

  #count(isViolating: boolean): void {
    if (isViolating) this.#violating++;
    else this.#others++;
  }

  found(): Found {
    if (this.best !== undefined) return { is: "candidate", candidate: this.best };
    if (this.#contradictions.length > 0) return { is: "contradiction", nodeNames: this.#contradictions };
    return { is: "none", tried: this.#tried, reasons: this.#reasons };
  }
}
