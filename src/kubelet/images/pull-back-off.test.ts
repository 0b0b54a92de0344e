import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { pullBackOff } from "./pull-back-off.ts";

const FAILED_AT_MS = 100_000;

function failure(delayMs: number) {
  return { backOff: { delayMs, updatedAtMs: FAILED_AT_MS }, error: "ErrImagePull: no such image", message: "no such image" };
}

describe("the back-off of an image pull", () => {
  const first = { reason: "ErrImagePull", message: "no such image" };
  const later = { reason: "ImagePullBackOff", message: 'Back-off pulling image "web:1": ErrImagePull: no such image' };
  for (const { title, delayMs, afterMs, expected } of [
    { title: "shows the error right after the failure", delayMs: 20_000, afterMs: 0, expected: { waiting: first, untilMs: 110_000 } },
    { title: "shows ImagePullBackOff from 10 s on", delayMs: 20_000, afterMs: 10_000, expected: { waiting: later, untilMs: 120_000 } },
    { title: "never exceeds the delay", delayMs: 5_000, afterMs: 1_000, expected: { waiting: first, untilMs: 105_000 } },
    { title: "is over when the delay has passed", delayMs: 20_000, afterMs: 20_000, expected: undefined },
  ]) {
    test(title, () => deepEqual(pullBackOff("web:1", failure(delayMs), FAILED_AT_MS + afterMs), expected));
  }
});
