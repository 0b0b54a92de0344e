import fc from "fast-check";
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { Fifo } from "./fifo.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 100, full: 5_000 }) };

test("Fifo behaves like an array under any sequence of push and shift", () => {
  const steps = fc.array(fc.oneof(fc.record({ push: fc.integer() }), fc.constant("shift" as const)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const step of all) {
        if (step === "shift") equal(fifo.shift(), model.shift());
        else {
          fifo.push(step.push);
          model.push(step.push);
        }
        equal(fifo.length, model.length);
      }
      const rest = Array.from({ length: fifo.length }, () => fifo.shift());
      deepEqual(rest, model);
    }),
    settings,
  );
});
