/** Loops, which macros expand to. The accumulator is computed when first read; an empty list or map grows in place. */
import { GrowingList, GrowingMap } from "../values/containers.ts";
import { goTypeOf } from "../values/describe.ts";
import { CelError, ListValue, MapValue, type CelResult, type CelValue } from "../values/value.ts";
import type { Evaluate, Frame } from "./frame.ts";

export interface Loop {
  readonly range: Evaluate;
  readonly variableSlot: number;
  readonly variable2Slot: number | undefined;
  readonly accumulatorSlot: number;
  readonly condition: Evaluate;
  readonly step: Evaluate;
  readonly result: Evaluate;
}

/** Reads the accumulator. `grows`: it starts as an empty literal that only this loop refers to. */
export function readAccumulator(slot: number, initial: Evaluate, { grows }: { readonly grows: boolean }): Evaluate {
  return (frame) => {
    const known = frame.slots[slot];
    if (known !== undefined) return known;
    let value = initial(frame);
    if (grows && value instanceof ListValue) value = new GrowingList();
    else if (grows && value instanceof MapValue) value = new GrowingMap();
    frame.slots[slot] = value;
    return value;
  };
}

export function evaluateLoop(loop: Loop): Evaluate {
  const { range, result, accumulatorSlot } = loop;
  return (frame) => {
    const over = range(frame);
    if (over instanceof CelError) return over;
    const before = frame.slots[accumulatorSlot];
    frame.slots[accumulatorSlot] = undefined;
    const problem = iterate(frame, loop, over);
    const value = problem ?? result(frame);
    frame.slots[accumulatorSlot] = before;
    if (value instanceof GrowingList) value.freeze();
    return value;
  };
}

function iterate(frame: Frame, loop: Loop, over: CelValue): CelError | undefined {
  if (over instanceof ListValue) {
    iterateList(frame, loop, over);
    return undefined;
  }
  if (over instanceof MapValue) {
    iterateMap(frame, loop, over);
    return undefined;
  }
  if (loop.variable2Slot !== undefined) return new CelError(`unsupported comprehension range type: ${goTypeOf(over)}`);
  return new CelError(`got '${goTypeOf(over)}', expected iterable type`);
}

function iterateList(frame: Frame, loop: Loop, list: ListValue): void {
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    if (loop.variable2Slot === undefined) frame.slots[loop.variableSlot] = element;
    else {
      frame.slots[loop.variableSlot] = BigInt(index);
      frame.slots[loop.variable2Slot] = element;
    }
    if (!iteration(frame, loop)) return;
  }
}

function iterateMap(frame: Frame, loop: Loop, map: MapValue): void {
  for (const key of map.keys()) {
    frame.slots[loop.variableSlot] = key;
    if (loop.variable2Slot !== undefined) frame.slots[loop.variable2Slot] = map.find(key) ?? null;
    if (!iteration(frame, loop)) return;
  }
}

/** False: the loop ends. */
function iteration(frame: Frame, { condition, step, accumulatorSlot }: Loop): boolean {
  if (condition(frame) === false) return false;
  const value: CelResult = step(frame);
  frame.slots[accumulatorSlot] = value;
  frame.iterate();
  return true;
}
