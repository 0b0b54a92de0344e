import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "../embedded/start-cluster.ts";
import { virtualClock } from "./virtual-clock.ts";

test("a virtual clock advances by an hour at once, timer by timer", async () => {
  const clock = virtualClock({ startMs: 1_000 });
  const woken: number[] = [];
  for (const minutes of [60, 1, 30]) void clock.sleep(minutes * 60_000).then(() => woken.push(minutes));

  await clock.advance(60 * 60_000);

  deepEqual(woken, [1, 30, 60]);
  equal(clock.now(), 1_000 + 60 * 60_000);
});

test("a cluster in memory runs for a virtual day", async () => {
  const clock = virtualClock();
  const cluster = await startCluster({ clock, nodes: 0 });

  await clock.advance(24 * 60 * 60_000);

  await cluster.close();
});
