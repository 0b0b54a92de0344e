import { equal } from "node:assert/strict";
import { test } from "node:test";
import { rotationTimeMs } from "./rotation-time.ts";

const ROWS: readonly (readonly [fraction: number, share: number])[] = [
  [0, 0.7],
  [0.5, 0.8],
  [0.999_999, 0.9],
];

for (const [fraction, share] of ROWS) {
  test(`a certificate is rotated after ${share * 100} % of its lifetime if the jitter is ${fraction}`, () => {
    const random = { fraction: () => fraction, below: () => 0, derive: () => random };
    equal(Math.round(rotationTimeMs({ fromMs: 1_000, toMs: 101_000 }, random)), 1_000 + share * 100_000);
  });
}
