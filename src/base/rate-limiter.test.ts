import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "./clock.ts";
import { defaultRateLimiter, longestOf, perBucket, perKeyExponential, TokenBucket } from "./rate-limiter.ts";

/** Only `monotonic` is called. */
function aClock() {
  const time = { ms: 0 };
  return { time, clock: { monotonic: () => time.ms } as Clock };
}

test("a key's delay doubles with each retry, other keys are unaffected, and forget resets it", () => {
  const limiter = perKeyExponential<string>({ minMs: 5, maxMs: 30 });
  deepEqual(
    [1, 2, 3, 4, 5].map(() => limiter.nextDelayMs("bad")),
    [5, 10, 20, 30, 30],
  );
  deepEqual([limiter.nextDelayMs("good"), limiter.retries("good"), limiter.retries("bad")], [5, 1, 5]);

  limiter.forget("bad");

  deepEqual([limiter.retries("bad"), limiter.nextDelayMs("bad")], [0, 5]);
});

test("a bucket grants its burst immediately and then reserves tokens at its rate", () => {
  const { clock, time } = aClock();
  const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 });
  deepEqual([bucket.take(), bucket.take(), bucket.take(), bucket.take()], [0, 0, 100, 200]);

  time.ms = 250;

  // Two are reserved for 100 and 200; half of the third has accrued.
  deepEqual([bucket.take(), bucket.take()], [50, 150]);
});

test("a bucket never holds more than its burst", () => {
  const { clock, time } = aClock();
  const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 });
  time.ms = 1_000_000;
  deepEqual([bucket.take(), bucket.take(), bucket.take()], [0, 0, 100]);
});

test("takeNow takes only available tokens", () => {
  const { clock, time } = aClock();
  const bucket = new TokenBucket({ clock, perSecond: 10, burst: 1 });
  deepEqual([bucket.takeNow(), bucket.takeNow()], [true, false]);
  time.ms = 99;
  equal(bucket.takeNow(), false);
  time.ms = 100;
  deepEqual([bucket.takeNow(), bucket.takeNow()], [true, false]);
});

test("a bucket without capacity or refill is rejected", () => {
  const { clock } = aClock();
  throws(() => new TokenBucket({ clock, perSecond: 0, burst: 1 }), { name: "AssertionFailed" });
  throws(() => new TokenBucket({ clock, perSecond: 1, burst: 0 }), { name: "AssertionFailed" });
});

test("of several limiters the slowest decides, and each of them counts", () => {
  const { clock } = aClock();
  const exponential = perKeyExponential<string>({ minMs: 40, maxMs: 1_000 });
  const limiter = longestOf([exponential, perBucket<string>(new TokenBucket({ clock, perSecond: 10, burst: 1 }))]);

  deepEqual([limiter.nextDelayMs("a"), limiter.nextDelayMs("a"), limiter.nextDelayMs("b")], [40, 100, 200]);
  deepEqual([limiter.retries("a"), exponential.retries("a")], [2, 2]);
  limiter.forget("a");
  deepEqual([limiter.retries("a"), exponential.retries("a")], [0, 0]);
});

test("the default limiter has upstream's values: 5 ms to 1000 s per key, burst 100 and 10 per second in total", () => {
  const { clock } = aClock();
  const oneKey = defaultRateLimiter<string>(clock);
  const delaysMs = Array.from({ length: 20 }, () => oneKey.nextDelayMs("a"));
  deepEqual([delaysMs[0], delaysMs[1], delaysMs[17], delaysMs[18], delaysMs[19]], [5, 10, 655_360, 1_000_000, 1_000_000]);

  const manyKeys = defaultRateLimiter<number>(clock);
  const firstDelaysMs = Array.from({ length: 102 }, (_, key) => manyKeys.nextDelayMs(key));
  deepEqual([firstDelaysMs[0], firstDelaysMs[99], firstDelaysMs[100], firstDelaysMs[101]], [5, 5, 100, 200]);
});
