import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../base/random.ts";
import { memoryStore } from "../../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { wrappedStore } from "../../testing/wrapped-store.ts";
import { Turns } from "./turns.ts";

/** Two servers on one store. */
function twoServers({ shared = true } = {}) {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const store = wrappedStore(memory, { capabilities: { ...memory.capabilities, shared } });
  const [one, two] = ["one", "two"].map((name) => new Turns({ store, clock, random: seededRandom(1).derive(name) })) as [Turns, Turns];
  return {
    clock,
    one,
    two,
    commit: async ({ operations }: Awaited<ReturnType<Turns["begin"]>>) => (await memory.commit(operations)).committed,
  };
}

test("of two servers that start a turn concurrently only one commits it", async () => {
  const { one, two, commit } = twoServers();
  const turns = [await one.begin(), await two.begin()] as const;

  assert.deepEqual([await commit(turns[0]), await commit(turns[1])], [true, false]);

  turns[1].end();
  assert.equal(await commit(await two.begin()), true);
});

test("turns within one server are serialized, so that all succeed at the first attempt", async () => {
  const { one, commit } = twoServers();
  const write = async () => {
    const turn = await one.begin();
    const isDone = await commit(turn);
    turn.end();
    return isDone;
  };

  assert.deepEqual(await Promise.all([write(), write(), write()]), [true, true, true]);
});

test("a slow write does not block the next turn, and loses its own", async () => {
  const { clock, one, commit } = twoServers();
  const slow = await one.begin();

  const waiting = one.begin();
  await clock.advance(1_000);
  const next = await waiting;

  assert.deepEqual([await commit(next), await commit(slow)], [true, false]);
});

test("a store of one server needs no turns", async () => {
  const { one } = twoServers({ shared: false });

  assert.deepEqual([(await one.begin()).operations, (await one.begin()).operations], [[], []]);
});
