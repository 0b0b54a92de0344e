import { equal } from "node:assert/strict";
import { test } from "node:test";
import { amountAt, cpuNanosecondsBetween, type UsageSteps } from "./usage.ts";

/** A tenth of a core, one core from 10 s on, nothing from 20 s on. */
const STEPS: UsageSteps = [
  { fromMs: 0, amount: 100_000_000 },
  { fromMs: 10_000, amount: 1_000_000_000 },
  { fromMs: 20_000, amount: 0 },
];

test("amountAt is the amount of the last step that has begun", () => {
  for (const [ranForMs, amount] of [
    [0, 100_000_000],
    [9_999, 100_000_000],
    [10_000, 1_000_000_000],
    [1e9, 0],
  ] as const)
    equal(amountAt(STEPS, ranForMs), amount);
});

test("cpuNanosecondsBetween integrates the steps", () => {
  for (const [from, to, seconds] of [
    [0, 10_000, 1],
    [0, 20_000, 11],
    [5_000, 15_000, 5.5],
    [19_000, 100_000, 1],
    [30_000, 40_000, 0],
  ] as const)
    equal(cpuNanosecondsBetween(STEPS, from, to), seconds * 1e9);
});
