/** The faults of one cluster, in the order in which they were added: the first that applies to a request is injected. */
import { notFound, tooMany } from "../problem.ts";
import { Fault, type FaultSpec } from "./fault.ts";
import type { RequestFacts } from "./request-facts.ts";

/** Every request is compared with each. */
export const FAULTS_MAX = 1_000;

export class Faults {
  readonly #byId = new Map<string, Fault>();
  #added = 0;

  list(): readonly Fault[] {
    return [...this.#byId.values()];
  }

  add(spec: FaultSpec): Fault {
    if (this.#byId.size >= FAULTS_MAX) throw tooMany(`There are ${FAULTS_MAX} faults, the maximum`, "Clear them with DELETE …/faults");
    const fault = new Fault(`fault-${++this.#added}`, spec);
    this.#byId.set(fault.id, fault);
    return fault;
  }

  /** Throws a NotFound problem. */
  remove(id: string): void {
    if (!this.#byId.delete(id)) throw notFound(`Fault "${id}" does not exist`, "GET …/faults lists those that do");
  }

  clear(): void {
    this.#byId.clear();
  }

  /** Counted by the faults. Undefined: the request is served. `isEligible`: others are not considered. */
  chosenFor(facts: RequestFacts, isEligible: (fault: Fault) => boolean = () => true): Fault | undefined {
    for (const fault of this.#byId.values()) if (isEligible(fault) && fault.appliesTo(facts)) return fault;
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }
}
