/** The state of one evaluation: what it has cost, the variables, and the values of loop variables by slot. */
import type { Bindings } from "../contract.ts";
import { spend } from "../values/meter.ts";
import { CelError, type CelResult } from "../values/value.ts";
import type { Journal } from "./journal.ts";

/** Thrown when the cost limit is exceeded; caught by the program. */
export class CostExceeded extends Error {
  override readonly name = "CostExceeded";
}

/** Thrown when the evaluation is interrupted; caught by the program. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Steps of evaluating a node that has a cost. */
const NODE_STEPS = 40;

/** Iterations between two checks for an interruption, as upstream. */
const CHECK_EVERY = 100;

export type Evaluate = (frame: Frame) => CelResult;

export interface FrameOptions {
  readonly bindings: Bindings;
  readonly costLimit: number;
  readonly isInterrupted: (() => boolean) | undefined;
  readonly slots: number;
  /** Of an evaluation in slices. */
  readonly journal?: Journal;
}

export class Frame {
  readonly slots: (CelResult | undefined)[];
  readonly journal: Journal | undefined;
  readonly #bindings: Bindings;
  readonly #costLimit: number;
  readonly #isInterrupted: (() => boolean) | undefined;
  /** Values of lazily bound variables; most evaluations have none. */
  #computed: Map<string, CelResult> | undefined;
  #iterations = 0;
  #cost = 0;

  constructor({ bindings, costLimit, isInterrupted, slots, journal }: FrameOptions) {
    this.journal = journal;
    this.#bindings = bindings;
    this.#costLimit = costLimit;
    this.#isInterrupted = isInterrupted;
    this.slots = slots === 0 ? [] : Array.from({ length: slots });
  }

  get cost(): number {
    return this.#cost;
  }

  /** Before an evaluation is run again from its journal. */
  restart(): void {
    this.#cost = 0;
  }

  /** The cost is at least this: that of work which is recorded. */
  reach(cost: number): void {
    if (cost > this.#cost) this.#cost = cost;
  }

  charge(cost: number): void {
    spend(NODE_STEPS);
    this.#cost += cost;
    if (this.#cost > this.#costLimit) throw new CostExceeded("Cannot continue the evaluation: the cost limit is exceeded");
  }

  variable(name: string): CelResult {
    if (!Object.hasOwn(this.#bindings, name)) return new CelError(`no such attribute(s): ${name}`);
    const binding = this.#bindings[name];
    if (typeof binding !== "function") return binding ?? null;
    this.#computed ??= new Map();
    const known = this.#computed.get(name);
    if (known !== undefined) return known;
    const value = binding();
    this.#computed.set(name, value);
    return value;
  }

  iterate(): void {
    if (this.#isInterrupted === undefined || ++this.#iterations % CHECK_EVERY !== 0) return;
    if (this.#isInterrupted()) throw new Interrupted("Cannot continue the evaluation: it was interrupted");
  }
}
