import fc from "fast-check";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { Backoff, exponentialDelayMs } from "./backoff.ts";
import { seededRandom, type Random } from "./random.ts";

/** A Random that always returns the same fraction. */
function chanceOf(fraction: number): Random {
  return { fraction: () => fraction, below: () => 0, derive: () => chanceOf(fraction) };
}

for (const { it, growth, delays } of [
  { it: "doubles up to its maximum", growth: { minMs: 100, maxMs: 1_000 }, delays: [100, 200, 400, 800, 1_000, 1_000] },
  { it: "grows by its factor", growth: { minMs: 1, maxMs: 100, factor: 5 }, delays: [1, 5, 25, 100] },
  { it: "stays where it is with factor 1", growth: { minMs: 7, maxMs: 7, factor: 1 }, delays: [7, 7, 7] },
]) {
  test(`a delay ${it}`, () => {
    const backoff = new Backoff({ ...growth, jitter: 0, random: chanceOf(0.9) });
    deepEqual(
      delays.map(() => backoff.next()),
      delays,
    );
  });
}

test("after ten thousand failures the delay is the maximum, without overflow", () => {
  equal(exponentialDelayMs({ minMs: 5, maxMs: 1_000_000 }, 10_000), 1_000_000);
});

test("jitter takes up to half of a delay by default", () => {
  const growth = { minMs: 100, maxMs: 1_000 };
  equal(new Backoff({ ...growth, random: chanceOf(0) }).next(), 100);
  equal(new Backoff({ ...growth, random: chanceOf(0.5) }).next(), 75);
  equal(new Backoff({ ...growth, jitter: 1, random: chanceOf(0.5) }).next(), 50);
});

test("a success resets the delay to the first one", () => {
  const backoff = new Backoff({ minMs: 10, maxMs: 1_000, jitter: 0, random: chanceOf(0) });
  backoff.next();
  backoff.next();
  equal(backoff.attempts, 2);

  backoff.reset();

  deepEqual([backoff.attempts, backoff.next()], [0, 10]);
});

for (const options of [
  { minMs: 0, maxMs: 10 },
  { minMs: 20, maxMs: 10 },
  { minMs: 1, maxMs: 10, factor: 0.5 },
  { minMs: 1, maxMs: 10, jitter: 2 },
]) {
  test(`the backoff options ${JSON.stringify(options)} are rejected`, () =>
    throws(() => new Backoff({ ...options, random: chanceOf(0) }).next(), { name: "AssertionFailed" }));
}

test("no delay exceeds the maximum or falls below what jitter leaves", () => {
  const options = fc.record({
    minMs: fc.integer({ min: 1, max: 1_000 }),
    extraMs: fc.nat(100_000),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(options, fc.nat(60), fc.integer(), ({ minMs, extraMs, jitter }, attempts, seed) => {
      const maxMs = minMs + extraMs;
      const backoff = new Backoff({ minMs, maxMs, jitter, random: seededRandom(seed) });
      for (let attempt = 0; attempt < attempts; attempt++) {
        const delayMs = backoff.next();
        ok(delayMs <= maxMs && delayMs >= exponentialDelayMs({ minMs, maxMs }, attempt) * (1 - jitter));
      }
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 100, full: 2_000 }) },
  );
});
