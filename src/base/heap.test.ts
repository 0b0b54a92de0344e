import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { Heap, type HeapEntry } from "./heap.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 200, full: 10_000 }) };
const ascending = (a: number, b: number) => a - b;

test("a heap pops the least item first under any sequence of push, pop and remove", () => {
  // Weighted towards pushes, so that the heap gets several levels deep.
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ push: fc.integer({ min: -500, max: 500 }) }) },
    { weight: 1, arbitrary: fc.constant("pop" as const) },
    { weight: 1, arbitrary: fc.record({ remove: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: "max" }), (steps) => {
      const heap = new Heap<number>(ascending);
      const seats: HeapEntry<number>[] = [];
      let model: number[] = [];
      for (const one of steps) {
        if (one === "pop") equal(heap.pop(), model.shift());
        else if ("push" in one) {
          seats.push(heap.push(one.push));
          model = [...model, one.push].sort(ascending);
        } else if (seats.length > 0) {
          const [seat] = seats.splice(one.remove % seats.length, 1) as [HeapEntry<number>];
          // The item of this entry has already been popped.
          if (heap.remove(seat)) model.splice(model.indexOf(seat.item), 1);
        }
        equal(heap.peek(), model[0]);
        equal(heap.size, model.length);
      }
      deepEqual(
        model.map(() => heap.pop()),
        model,
      );
    }),
    settings,
  );
});

test("an item is removed from a heap only once", () => {
  const heap = new Heap<number>(ascending);
  const seat = heap.push(1);

  deepEqual([heap.remove(seat), heap.remove(seat), heap.pop()], [true, false, undefined]);
});

test("removing an entry of another heap fails an assertion", () => {
  const seat = new Heap<number>(ascending).push(1);
  throws(() => new Heap<number>(ascending).remove(seat), { name: "AssertionFailed" });
});
