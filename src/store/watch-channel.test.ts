import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { realMacrotask } from "../testing/machine.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { WATCH_BACKLOG_MAX, type Change } from "./store.ts";
import { WatchChannel } from "./watch-channel.ts";
import { bytesValue } from "./value.ts";

const value = bytesValue(new Uint8Array(0));

function changes(...revisions: number[]): Change[] {
  return revisions.map((revision) => ({ type: "put", key: "/pods/a", revision, value, previous: undefined }));
}

/** A channel whose listener records its calls, and stays busy until `done` is called. */
function busyChannel() {
  const received: string[] = [];
  const finish: (() => void)[] = [];
  const clock = virtualClock();
  const channel = new WatchChannel(
    {
      changes: (batch) => {
        received.push(batch.map(({ revision }) => revision).join(","));
        return new Promise((resolve) => finish.push(resolve));
      },
      progress: (revision) => void received.push(`progress ${revision}`),
      ended: ({ reason }) => void received.push(reason),
    },
    clock,
    () => void received.push("let go"),
  );
  const done = async () => {
    finish.shift()?.();
    await realMacrotask();
  };
  return { received, channel, clock, done };
}

test("changes that arrive while the listener is busy are delivered together afterwards, then progress", async () => {
  const { received, channel, done } = busyChannel();
  channel.push(changes(1));
  channel.push(changes(2));
  channel.push(changes(3, 4));
  channel.progress(5);
  channel.progress(6);
  await done();
  await done();
  deepEqual(received, ["1", "2,3,4", "progress 6"]);
});

test("the backlog may reach its limit, and one more change ends the watch", async () => {
  const { received, channel, clock, done } = busyChannel();
  channel.push(changes(1));
  for (let revision = 0; revision < WATCH_BACKLOG_MAX; revision++) channel.push(changes(2));
  equal(channel.closed, false);
  channel.push(changes(3));
  await clock.settle();
  await done();
  deepEqual(received, ["1", "let go", "slow"]);
});

test("a listener that finishes within the tick may receive more than the limit in one tick", async () => {
  let taken = 0;
  const clock = virtualClock();
  const channel = new WatchChannel({ changes: async (batch) => void (taken += batch.length), ended: () => undefined }, clock);
  for (let revision = 0; revision < 3 * WATCH_BACKLOG_MAX; revision++) channel.push(changes(revision));
  await clock.settle();
  deepEqual([taken, channel.closed], [3 * WATCH_BACKLOG_MAX, false]);
});

test("a listener that throws on progress ends its watch as failed, whether it was busy or not", async () => {
  for (const busy of [false, true]) {
    const ends: string[] = [];
    const channel = new WatchChannel(
      {
        changes: () => Promise.resolve(),
        progress: () => {
          throw new Error("over progress");
        },
        ended: ({ reason }) => void ends.push(reason),
      },
      virtualClock(),
    );
    if (busy) channel.push(changes(1));
    channel.progress(2);
    await realMacrotask();
    deepEqual(ends, ["failed"]);
  }
});

test("whenIdle is called when the listener is idle, and not after the end", async () => {
  const { received, channel, done } = busyChannel();
  channel.onceIdle(() => received.push("idle"));
  channel.push(changes(1));
  channel.onceIdle(() => received.push("idle again"));
  await done();
  channel.push(changes(2));
  channel.onceIdle(() => received.push("never"));
  channel.end({ reason: "closed" });
  await done();
  deepEqual(received, ["idle", "1", "idle again", "2", "let go", "closed"]);
});

test("after the end nothing is delivered, and the end only once", async () => {
  const { received, channel, done } = busyChannel();
  channel.push(changes(1));
  channel.push(changes(2));
  channel.end({ reason: "closed" });
  channel.end({ reason: "slow" });
  channel.push(changes(3));
  channel.progress(4);
  await done();
  deepEqual(received, ["1", "let go", "closed"]);
});

test("a listener that pushes into its own channel is not called reentrantly", () => {
  const received: string[] = [];
  let depth = 0;
  const channel: WatchChannel = new WatchChannel(
    {
      changes: (batch) => {
        depth += 1;
        received.push(`${depth}: ${batch[0]?.revision}`);
        if (batch[0]?.revision === 1) channel.push(changes(2));
        depth -= 1;
      },
      ended: () => undefined,
    },
    virtualClock(),
  );
  channel.push(changes(1));
  deepEqual(received, ["1: 1", "1: 2"]);
});

test("an error thrown by ended is rethrown where it affects no other work", async () => {
  const clock = virtualClock();
  const channel = new WatchChannel(
    {
      changes: () => undefined,
      ended: () => {
        throw new Error("from ended");
      },
    },
    clock,
  );
  channel.end({ reason: "closed" });
  const thrown = await clock.settle().then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
  equal(thrown, "from ended");
});
