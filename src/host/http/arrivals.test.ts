import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { Arrivals, REQUESTS_TOGETHER_MAX } from "./arrivals.ts";

/** The next tick of the event loop, after its poll phase. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test("requests of one tick are handled step by step, in the order of their arrival", async () => {
  const steps: string[] = [];
  const arrivals = new Arrivals<string>((request) => {
    steps.push(`${request} first`);
    void Promise.resolve().then(() => steps.push(`${request} second`));
  });

  arrivals.add("a");
  arrivals.add("b");
  deepEqual(steps, [], "nothing starts before all have arrived");
  await nextTick();

  deepEqual(steps, ["a first", "b first", "a second", "b second"]);
});

test("a request that arrives while others are handled starts in the next tick", async () => {
  const handled: string[] = [];
  const arrivals = new Arrivals<string>((request) => {
    handled.push(request);
    if (request === "a") arrivals.add("late");
  });

  arrivals.add("a");
  arrivals.add("b");
  await nextTick();
  deepEqual(handled, ["a", "b"]);
  await nextTick();

  deepEqual(handled, ["a", "b", "late"]);
});

test("more requests than may start together are spread over ticks, and all keep their order", async () => {
  const handled: number[] = [];
  const arrivals = new Arrivals<number>((request) => handled.push(request));
  const all = Array.from({ length: 2 * REQUESTS_TOGETHER_MAX + 1 }, (_, index) => index);

  for (const request of all) arrivals.add(request);
  await nextTick();
  deepEqual(handled, all.slice(0, REQUESTS_TOGETHER_MAX));
  arrivals.add(all.length);
  await nextTick();
  await nextTick();

  deepEqual(handled, [...all, all.length]);
});
