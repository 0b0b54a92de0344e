import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { RetryAfter } from "./retry-after.ts";

test("Retry-After doubles up to 32 while many requests are rejected, and decrements while few are", () => {
  const retry = new RetryAfter();
  const seen: number[] = [];
  let second = 1_000;
  const rejectFor = (seconds: number, perSecond: number) => {
    for (const end = second + seconds; second < end; second++) {
      for (let request = 0; request < perSecond; request++) retry.rejected(second * 1_000);
      if (seen.at(-1) !== retry.seconds) seen.push(retry.seconds);
    }
  };
  equal(retry.seconds, 1);
  rejectFor(100, 10);
  deepEqual(seen, [1, 2, 4, 8, 16, 32]);
  second += 100;
  rejectFor(1, 1);
  equal(retry.seconds, 31);
});

test("a single rejected request does not raise Retry-After", () => {
  const retry = new RetryAfter();
  for (let second = 1; second < 10; second++) retry.rejected(second * 1_000);
  equal(retry.seconds, 1);
});
