import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { seededRandom } from "../../base/random.ts";
import { RoundRobin } from "./round-robin.ts";

function picks(seed: number, counts: readonly number[]): number[] {
  const turns = new RoundRobin(seededRandom(seed));
  return counts.map((count) => turns.next(count));
}

test("among ties every node is chosen once before one is chosen twice", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 5_000 }), (seed, count) => {
      equal(new Set(picks(seed, Array<number>(count).fill(count))).size, count);
    }),
    { numRuns: 50 },
  );
});

test("equal seeds choose equally, whatever the number of ties", () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(fc.integer({ min: 1, max: 100 })), (seed, counts) => {
      const taken = picks(seed, counts);
      deepEqual(picks(seed, counts), taken);
      ok(taken.every((index, at) => index >= 0 && index < (counts[at] as number)));
    }),
  );
});

test("seeds differ in start and order", () => {
  const orders = Array.from({ length: 20 }, (_, seed) => picks(seed, Array<number>(7).fill(7)));
  ok(new Set(orders.map((order) => order[0])).size > 2);
  const steps = orders.map((order) => ((order[1] as number) - (order[0] as number) + 7) % 7);
  ok(new Set(steps).size > 2);
});
