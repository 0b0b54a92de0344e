/** Loops, which macros expand to. The accumulator is computed when first read; an empty list or map grows in place. */
import { GrowingList, GrowingMap } from "../values/containers.ts";
import { goTypeOf } from "../values/describe.ts";
import { spend } from "../values/meter.ts";
import { CelError, ListValue, MapValue, type CelResult } from "../values/value.ts";
import type { Evaluate, Frame } from "./frame.ts";
import type { Journal, LoopItems, LoopState } from "./journal.ts";

export interface Loop {
  /** Of the node, in journals. */
  readonly id: number;
  readonly range: Evaluate;
  readonly variableSlot: number;
  readonly variable2Slot: number | undefined;
  readonly accumulatorSlot: number;
  readonly condition: Evaluate;
  readonly step: Evaluate;
  readonly result: Evaluate;
}

/** Steps of an iteration, besides those of its expressions. */
const ITERATION_STEPS = 40;

/** Reads the accumulator. `grows`: it starts as an empty literal that only this loop refers to. */
export function readAccumulator(
  slot: number,
  initial: Evaluate,
  { id, grows }: { readonly id: number; readonly grows: boolean },
): Evaluate {
  return (frame) => {
    const known = frame.slots[slot];
    if (known !== undefined) return known;
    let value = frame.journal === undefined ? initial(frame) : frame.journal.initial(slot, id, initial, frame);
    if (grows && value instanceof ListValue) value = new GrowingList();
    else if (grows && value instanceof MapValue) value = new GrowingMap();
    frame.slots[slot] = value;
    return value;
  };
}

export function evaluateLoop(loop: Loop): Evaluate {
  const { range, accumulatorSlot } = loop;
  return (frame) => {
    if (frame.journal !== undefined) return evaluateFromJournal(frame, frame.journal, loop);
    const items = itemsOf(frame, loop, range(frame));
    if (items instanceof CelError) return items;
    frame.slots[accumulatorSlot] = undefined;
    for (let index = 0; index < items.size; index++) {
      items.bind(index);
      if (!iteration(frame, loop)) break;
    }
    return finished(frame, loop);
  };
}

function finished(frame: Frame, { result, accumulatorSlot }: Loop): CelResult {
  const value = result(frame);
  frame.slots[accumulatorSlot] = undefined;
  if (value instanceof GrowingList) value.freeze();
  return value;
}

/** The same, from where the last slice ended. */
function evaluateFromJournal(frame: Frame, journal: Journal, loop: Loop): CelResult {
  const known = journal.find(loop.id, frame);
  if (known !== undefined) return known;
  const state = journal.unfinished(loop.id) ?? startLoop(frame, journal, loop);
  if (state instanceof CelError) return state;
  frame.reach(state.cost);
  const value = journal.inside(state, loop.accumulatorSlot, () => {
    frame.slots[loop.accumulatorSlot] = state.accumulator;
    iterateFromJournal(frame, journal, loop, state);
    return finished(frame, loop);
  });
  journal.record(loop.id, value, frame);
  return value;
}

function startLoop(frame: Frame, journal: Journal, loop: Loop): LoopState | CelError {
  const items = itemsOf(frame, loop, loop.range(frame));
  return items instanceof CelError ? items : journal.startLoop(loop.id, items, frame);
}

function iterateFromJournal(frame: Frame, journal: Journal, loop: Loop, state: LoopState): void {
  const { items } = state;
  while (state.index < items.size) {
    journal.safePoint();
    items.bind(state.index);
    const continues = iteration(frame, loop);
    journal.nextIteration(state, continues ? state.index + 1 : items.size, frame.slots[loop.accumulatorSlot], frame);
  }
}

function itemsOf(frame: Frame, { variableSlot, variable2Slot }: Loop, over: CelResult): LoopItems | CelError {
  if (over instanceof CelError) return over;
  const { slots } = frame;
  if (over instanceof ListValue) {
    const bind = (index: number): void => {
      const element = over.at(index);
      if (variable2Slot === undefined) slots[variableSlot] = element;
      else {
        slots[variableSlot] = BigInt(index);
        slots[variable2Slot] = element;
      }
    };
    return { size: over.size, bind };
  }
  if (over instanceof MapValue) {
    const keys = over.keys();
    const bind = (index: number): void => {
      const key = keys[index] ?? null;
      slots[variableSlot] = key;
      if (variable2Slot !== undefined) slots[variable2Slot] = over.find(key) ?? null;
    };
    return { size: keys.length, bind };
  }
  if (variable2Slot !== undefined) return new CelError(`unsupported comprehension range type: ${goTypeOf(over)}`);
  return new CelError(`got '${goTypeOf(over)}', expected iterable type`);
}

/** False: the loop ends. */
function iteration(frame: Frame, { condition, step, accumulatorSlot }: Loop): boolean {
  spend(ITERATION_STEPS);
  if (condition(frame) === false) return false;
  const value: CelResult = step(frame);
  frame.slots[accumulatorSlot] = value;
  frame.iterate();
  return true;
}
