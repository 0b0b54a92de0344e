import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { SerialQueue } from "./serial-queue.ts";

/** Records the order in which callers acquire the queue. */
function players(queue: SerialQueue) {
  const heard: string[] = [];
  const play = async (name: string) => {
    const end = await queue.begin();
    heard.push(name);
    return end;
  };
  return { heard, play };
}

test("callers of a SerialQueue run one after the other, in the order of their calls", async () => {
  const clock = virtualClock();
  const queue = new SerialQueue(clock);
  const { heard, play } = players(queue);

  const [a, b] = [play("a"), play("b"), play("c")];
  await clock.settle();
  assert.deepEqual([heard, queue.length], [["a"], 3]);

  (await a)();
  await clock.settle();
  assert.deepEqual([heard, queue.length], [["a", "b"], 2]);
  (await b)();
  await clock.settle();
  assert.deepEqual(heard, ["a", "b", "c"]);
});

test("a SerialQueue does not wait for a caller that exceeds its timeout, and each caller has a timeout of its own", async () => {
  const clock = virtualClock();
  const queue = new SerialQueue(clock);
  const { heard, play } = players(queue);
  for (const name of ["a", "b", "c"]) void play(name);

  await clock.advance(999);
  assert.deepEqual(heard, ["a"]);
  await clock.advance(1);
  assert.deepEqual(heard, ["a", "b"]);
  await clock.advance(1_000);
  assert.deepEqual([heard, queue.length], [["a", "b", "c"], 1]);
  await clock.advance(1_000);
  assert.deepEqual([queue.length, clock.sleeping], [0, 0]);
});
