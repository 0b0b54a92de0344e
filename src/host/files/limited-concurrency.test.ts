import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { fewAtATime } from "./limited-concurrency.ts";

test("all items are processed, results are in order, and at most 32 run concurrently", async () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  let [underWay, most] = [0, 0];
  const answers = await fewAtATime(items, async (item) => {
    most = Math.max(most, ++underWay);
    await Promise.resolve();
    underWay--;
    return item * 2;
  });
  deepEqual(
    answers,
    items.map((item) => item * 2),
  );
  equal(most, 32);
});
