/**
 * Makes an evaluation interruptible. It is a tree of closures, so it is not paused in the middle: it is abandoned at a safe point, and
 * later run again with the journal, in which the values of completed calls and the state of unfinished loops are recorded. What is not
 * recorded (paths, literals, operators without a call) is computed again, which takes little. Costs are recorded, too, so that nothing is
 * charged twice. A node of the tree is evaluated at most once per iteration of the loop around it, so its number identifies it there.
 */
import { allow, CALL_STEPS_MAX, isTickSpent, OutOfSteps, spend, STEPS_MAX } from "../values/meter.ts";
import type { CelResult } from "../values/value.ts";

/** Thrown at a safe point when the steps of the tick are spent; the evaluation continues from its journal. */
export class Suspended extends Error {
  override readonly name = "Suspended";
}

/** The part of a frame that is used here. */
interface Costs {
  readonly cost: number;
  reach(cost: number): void;
}

/** Steps of recording a value. */
const RECORD_STEPS = 40;

interface Completed {
  readonly value: CelResult;
  /** The cost of the evaluation up to here. */
  readonly cost: number;
}

/** An unfinished loop at the beginning of an iteration. */
export interface LoopState {
  readonly items: LoopItems;
  index: number;
  accumulator: CelResult | undefined;
  cost: number;
  /** Completed calls of this iteration. */
  readonly inner: Level;
}

/** A list, or the keys of a map. */
export interface LoopItems {
  readonly size: number;
  /** Writes the loop variables of an iteration. */
  bind(index: number): void;
}

interface Level {
  readonly completed: Map<number, Completed>;
  readonly loops: Map<number, LoopState>;
}

function newLevel(): Level {
  return { completed: new Map(), loops: new Map() };
}

export class Journal {
  readonly #root = newLevel();
  #level = this.#root;
  /** The level of the loop that an accumulator belongs to. */
  readonly #ofAccumulator = new Map<number, Level>();
  #left = STEPS_MAX;
  /** Suspending without progress would never end. */
  #hasProgressed = false;

  /** Called before the evaluation is run again. */
  begin(): void {
    this.#level = this.#root;
    this.#hasProgressed = false;
    allow(CALL_STEPS_MAX);
  }

  /** The value of a node: recorded, or evaluated now. Throws Suspended. */
  once<F extends Costs>(id: number, evaluate: (frame: F) => CelResult, frame: F): CelResult {
    const known = this.find(id, frame);
    if (known !== undefined) return known;
    this.safePoint();
    const value = evaluate(frame);
    this.record(id, value, frame);
    return value;
  }

  find(id: number, frame: Costs): CelResult | undefined {
    const known = this.#level.completed.get(id);
    if (known === undefined) return undefined;
    frame.reach(known.cost);
    return known.value;
  }

  record(id: number, value: CelResult, frame: Costs): void {
    this.#level.completed.set(id, { value, cost: frame.cost });
    this.#level.loops.delete(id);
    this.progress();
  }

  /** The state of a loop that was not finished. */
  unfinished(id: number): LoopState | undefined {
    return this.#level.loops.get(id);
  }

  startLoop(id: number, items: LoopItems, frame: Costs): LoopState {
    const state = { items, index: 0, accumulator: undefined, cost: frame.cost, inner: newLevel() };
    this.#level.loops.set(id, state);
    return state;
  }

  /** The first value of a loop's accumulator. It may be read first in a loop inside of that loop, and stays known after it. */
  initial<F extends Costs>(slot: number, id: number, evaluate: (frame: F) => CelResult, frame: F): CelResult {
    const reader = this.#level;
    this.#level = this.#ofAccumulator.get(slot) ?? reader;
    const value = this.once(id, evaluate, frame);
    this.#level = reader;
    return value;
  }

  /** Runs the iterations of a loop: what they record belongs to them. */
  inside<T>({ inner }: LoopState, accumulatorSlot: number, run: () => T): T {
    const outer = this.#level;
    this.#level = inner;
    this.#ofAccumulator.set(accumulatorSlot, inner);
    const value = run();
    this.#level = outer;
    return value;
  }

  /** The next iteration begins: from here on, the loop never returns to this one. */
  nextIteration(state: LoopState, index: number, accumulator: CelResult | undefined, frame: Costs): void {
    state.index = index;
    state.accumulator = accumulator;
    state.cost = frame.cost;
    state.inner.completed.clear();
    state.inner.loops.clear();
    this.progress();
  }

  progress(): void {
    this.#hasProgressed = true;
    spend(RECORD_STEPS);
    this.#count();
  }

  /** Throws Suspended if the steps of the tick are spent, and OutOfSteps if those of the evaluation are. */
  safePoint(): void {
    this.#count();
    if (this.#hasProgressed && isTickSpent()) throw new Suspended("The evaluation continues in another tick");
  }

  #count(): void {
    this.#left -= allow(CALL_STEPS_MAX);
    if (this.#left < 0) throw new OutOfSteps("Cannot continue the evaluation: it takes too many steps");
  }
}
