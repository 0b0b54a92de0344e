import { deepEqual, match, rejects, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { forEachSeed, seedsOf } from "./for-each-seed.ts";

describe("forEachSeed", () => {
  for (const { it, count, only, seeds } of [
    { it: "are 1 to the count", count: 3, only: undefined, seeds: [1, 2, 3] },
    { it: "are 1 to the count if K8TS_SEED is empty", count: 2, only: "", seeds: [1, 2] },
    { it: "are only that of K8TS_SEED", count: 3, only: "17", seeds: [17] },
  ]) {
    test(it, () => deepEqual(seedsOf(count, only), seeds));
  }

  test("seeds are whole numbers", () => throws(() => seedsOf(1, "a lot"), /Cannot use K8TS_SEED="a lot": it must be a whole number/));
});

test("a failing seed reports how to repeat it, and the remaining seeds do not run", async () => {
  const [first] = seedsOf(5, process.env["K8TS_SEED"]);
  const ran: number[] = [];
  const failure = new Error("Two pods have the same name");

  const running = forEachSeed(5, (seed) => {
    ran.push(seed);
    return Promise.reject(failure);
  });

  await rejects(running, (error: Error) => {
    match(error.message, new RegExp(`^Failed with seed ${first}; .* K8TS_SEED=${first} .*: Two pods have the same name$`));
    return error.cause === failure;
  });
  deepEqual(ran, [first]);
});

test("all seeds run if none fails", async () => {
  const ran: number[] = [];
  await forEachSeed(5, async (seed) => ran.push(seed));
  deepEqual(ran, seedsOf(5, process.env["K8TS_SEED"]));
});
