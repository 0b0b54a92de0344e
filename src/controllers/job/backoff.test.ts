import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { backoffRemainingMs, indexBackoffRemainingMs, nextBackoff, NO_BACKOFF, restoredBackoff, type Backoff } from "./backoff.ts";
import { podWith } from "./testing/jobs.ts";

const SECOND = 1_000;
const failedAt = (...seconds: number[]): Pod[] =>
  seconds.map((second) => podWith(`f${second}`, { phase: "Failed", finishedMs: second * SECOND }));
const succeededAt = (...seconds: number[]): Pod[] =>
  seconds.map((second) => podWith(`s${second}`, { phase: "Succeeded", finishedMs: second * SECOND, exitCode: 0 }));

const EARLIER: Backoff = { failures: 2, lastFailureMs: 5 * SECOND };
const RECORDS: readonly [title: string, newSucceeded: Pod[], newFailed: Pod[], expected: Backoff][] = [
  ["no new Pod keeps it", [], [], EARLIER],
  ["failures add up", [], failedAt(20, 10), { failures: 4, lastFailureMs: 20 * SECOND }],
  ["a success clears it", succeededAt(9), [], NO_BACKOFF],
  ["only failures after the last success count", succeededAt(15), failedAt(10, 20, 30), { failures: 2, lastFailureMs: 30 * SECOND }],
  ["failures before the last success do not count", succeededAt(30), failedAt(10, 20), NO_BACKOFF],
];

for (const [title, newSucceeded, newFailed, expected] of RECORDS) {
  test(`the back-off record of a Job: ${title}`, () => {
    deepEqual(nextBackoff(EARLIER, { newSucceeded, newFailed }), expected);
  });
}

test("after a restart the back-off is restored from Pods that are counted already", () => {
  const counted = podWith("f", { phase: "Failed", finishedMs: 30 * SECOND, isTracked: false });
  const surplus = podWith("t", { isTerminating: true, isTracked: false });

  deepEqual(restoredBackoff([...succeededAt(10), counted, surplus], { template: {} }), { failures: 1, lastFailureMs: 30 * SECOND });
});

const DELAYS: readonly [failures: number, seconds: number][] = [
  [0, 0],
  [1, 10],
  [2, 20],
  [3, 40],
  [6, 320],
  [7, 600],
  [5_000, 600],
];

for (const [failures, seconds] of DELAYS) {
  test(`after ${failures} failures a Pod is replaced ${seconds} s after the last one`, () => {
    equal(backoffRemainingMs({ failures, lastFailureMs: 100 * SECOND }, 100 * SECOND), seconds * SECOND);
    equal(backoffRemainingMs({ failures, lastFailureMs: 100 * SECOND }, 1_000 * SECOND), 0);
  });
}

test("the back-off of an index follows from the failure count of its last Pod", () => {
  const last = podWith("a", { phase: "Failed", index: 3, failures: 2, finishedMs: 0 });

  equal(indexBackoffRemainingMs(last, 15 * SECOND), 25 * SECOND);
  equal(indexBackoffRemainingMs(undefined, 0), 0);
});
