import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { slowStart, together } from "./together.ts";

test("several works give their results in their own order", async () => {
  deepEqual(await together([Promise.resolve(1), Promise.resolve(2)]), [1, 2]);
});

test("one that fails is told when all the others have ended", async () => {
  let hasEnded = false;
  const slow = Promise.resolve()
    .then(() => {})
    .then(() => {})
    .then(() => (hasEnded = true));

  await rejects(together([slow, Promise.reject(new Error("first")), Promise.reject(new Error("second"))]), { message: "first" });

  equal(hasEnded, true);
});

for (const { count, batches } of [
  { count: 0, batches: [] },
  { count: 1, batches: [1] },
  { count: 2, batches: [1, 1] },
  { count: 7, batches: [1, 2, 4] },
  { count: 500, batches: [1, 2, 4, 8, 16, 32, 64, 128, 245] },
]) {
  test(`${count} starts go in batches of [${batches.join(", ")}]`, async () => {
    const started = batchesOf();

    await slowStart(count, started.work);

    deepEqual(started.sizes, batches);
  });
}

test("a failure lets its batch end and starts no other", async () => {
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

/** How many were started before the first of them was answered. */
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
