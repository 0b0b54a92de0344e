import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { inTurns, slowStart, together } from "./concurrent-writes.ts";

test("results are returned in the order of the work", async () => {
  deepEqual(await together([Promise.resolve(1), Promise.resolve(2)]), [1, 2]);
  deepEqual(await inTurns([1, 2], (number) => Promise.resolve(number * 10)), [10, 20]);
});

test("a failure is thrown when all the others have ended", async () => {
  let hasEnded = false;
  const slow = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    hasEnded = true;
  };
  const failing = (message: string): Promise<never> => Promise.reject(new Error(message));

  await rejects(together([slow(), failing("first"), failing("second")]), { message: "first" });

  equal(hasEnded, true);
});

test("at most 32 are in flight, and a failure does not prevent the others", async () => {
  let open = 0;
  let openMax = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    openMax = Math.max(openMax, ++open);
    await Promise.resolve();
    open--;
    if (++done === 7) throw new Error("the seventh");
  };

  await rejects(inTurns(Array.from({ length: 100 }), work), { message: "the seventh" });

  deepEqual([openMax, done], [32, 100]);
});

for (const { count, batches } of [
  { count: 0, batches: [] },
  { count: 1, batches: [1] },
  { count: 2, batches: [1, 1] },
  { count: 7, batches: [1, 2, 4] },
  { count: 100, batches: [1, 2, 4, 8, 16, 32, 32, 5] },
]) {
  test(`${count} starts run in batches of [${batches.join(", ")}]`, async () => {
    const started = batchesOf();

    await slowStart(count, started.work);

    deepEqual(started.sizes, batches);
  });
}

test("a failure completes its batch and starts no other", async () => {
  const started = batchesOf();
  let calls = 0;
  const failing = async (): Promise<void> => {
    const isThird = ++calls === 3;
    await started.work();
    if (isThird) throw new Error("no more");
  };

  await rejects(slowStart(100, failing), { message: "no more" });

  deepEqual(started.sizes, [1, 2]);
});

/** Number of starts before the first response. */
function batchesOf(): { readonly sizes: number[]; work(): Promise<void> } {
  const sizes: number[] = [];
  let open = 0;
  return {
    sizes,
    async work() {
      if (open++ === 0) sizes.push(0);
      sizes[sizes.length - 1]! += 1;
      await Promise.resolve();
      open--;
    },
  };
}
