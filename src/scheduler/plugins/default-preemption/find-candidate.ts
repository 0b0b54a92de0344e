/**
 * Which node to make room on. Nodes that were refused for something that evicting could change are tried, beginning at a random one, until
 * there are enough to choose from; the one that costs least is taken, of equal ones the first. Leaving out early what cannot win does not
 * change the choice: such nodes still count among those to choose from.
 */
import type { Random } from "../../../base/random.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { WhatIf } from "../../framework/plugin.ts";
import { candidatesWanted, type DefaultPreemptionArguments } from "./arguments.ts";
import { selectVictims, type Candidate, type Search } from "./victims.ts";

export type Found =
  | { readonly is: "candidate"; readonly candidate: Candidate }
  /** By reason, how many of the nodes that were tried would not do. */
  | { readonly is: "none"; readonly tried: number; readonly reasons: ReadonlyMap<string, number> }
  /** Nodes on which there was nothing to evict, against all reason; and no other would do. */
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

/** What there is to choose from so far. */
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

  /** As long as all violate a budget the search goes on, however many there are. */
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
