import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { allocateSeats, type AllocationItem } from "./allocation.ts";

const item = (lowerBound: number, target: number, upperBound: number): AllocationItem => ({ lowerBound, target, upperBound });

test("allocation divides seats in proportion to targets, within bounds", () => {
  const rows: readonly [it: string, sum: number, items: readonly AllocationItem[], seats: readonly number[], fraction: number][] = [
    ["no bound matters", 100, [item(0, 10, 1_000), item(0, 30, 1_000)], [25, 75], 2.5],
    ["a lower bound holds", 100, [item(40, 40, 1_000), item(0, 160, 1_000)], [40, 60], 0.375],
    ["an upper bound holds", 100, [item(0, 50, 30), item(0, 50, 1_000)], [30, 70], 1.4],
    ["all at their lower bounds", 50, [item(20, 30, 90), item(30, 60, 90)], [20, 30], 0.5],
    ["all at their upper bounds", 180, [item(20, 30, 90), item(30, 60, 90)], [90, 90], 3],
    ["nothing to divide", 0, [item(0, 5, 9)], [0], 0],
  ];
  for (const [it, sum, items, seats, fraction] of rows) {
    const allocation = allocateSeats(sum, items);
    deepEqual(
      allocation?.seats.map((value) => Number(value.toFixed(6))),
      seats,
      it,
    );
    equal(Number(allocation?.fairFraction.toFixed(6)), fraction, it);
  }
});

test("allocation reports bounds that make the sum impossible", () => {
  equal(allocateSeats(10, [item(20, 20, 30)]), undefined);
  equal(allocateSeats(40, [item(20, 20, 30)]), undefined);
  equal(allocateSeats(25, [item(20, 10, 30)]), undefined);
  equal(allocateSeats(-1, []), undefined);
});

test("allocation solves any feasible problem: the sum is met, and each item has its fair share or a bound", () => {
  const items = fc.array(
    fc
      .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 100 }))
      .map(([low, more, wide]) => item(low, low + more, low + wide)),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(items, fc.double({ min: 0, max: 1, noNaN: true }), (classes, part) => {
      const low = classes.reduce((sum, { lowerBound }) => sum + lowerBound, 0);
      const high = classes.reduce((sum, { upperBound }) => sum + upperBound, 0);
      const sum = Math.round(low + (high - low) * part);
      const allocation = allocateSeats(sum, classes);
      ok(allocation !== undefined);
      const total = allocation.seats.reduce((seats, value) => seats + value, 0);
      ok(Math.abs(total - sum) < 1e-6, `${total} instead of ${sum}`);
      allocation.seats.forEach((seats, index) => {
        const { lowerBound, upperBound } = classes[index] as AllocationItem;
        ok(seats >= lowerBound - 1e-6 && seats <= upperBound + 1e-6);
      });
    }),
    { numRuns: 300, seed: 1 },
  );
});
