/** When compaction happens, under virtual time. What one round does is part of the suite of every driver. */
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { startCompaction, type CompactionPolicy } from "./compaction.ts";
import { openMemoryStore } from "./memory/memory-store.ts";
import { PODS, committed, put } from "./testing/harness.ts";

const MINUTE_MS = 60_000;

async function run(policy: CompactionPolicy, writesPerMinute: number, minutes: number) {
  const clock = virtualClock();
  const store = openMemoryStore({ clock });
  const compaction = startCompaction(store, { clock, log: silentLogger }, policy);
  const revisionAt: number[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    revisionAt.push(await store.currentRevision());
    for (let write = 0; write < writesPerMinute; write++) await committed(store, put(`${PODS}a`, `${minute}.${write}`));
    await clock.advance(MINUTE_MS);
  }
  const statistics = await store.statistics();
  await compaction.stop();
  return { ...statistics, revisionAt };
}

test("history is kept for at least one interval and at most a fifth longer", async () => {
  const { compactedRevision, revisionAt } = await run({ intervalMs: 5 * MINUTE_MS, revisionsMax: 1_000_000 }, 10, 60);
  const oldestKeptMinute = revisionAt.findIndex((revision) => revision >= compactedRevision);
  ok(oldestKeptMinute >= 60 - 6 - 1, `history since minute ${oldestKeptMinute} of 60 is too old`);
  ok(oldestKeptMinute <= 60 - 5, `history since minute ${oldestKeptMinute} of 60 is too young`);
});

test("the revision limit compacts history however recent it is", async () => {
  const { compactedRevision, revision } = await run({ intervalMs: 60 * MINUTE_MS, revisionsMax: 50 }, 20, 30);
  // Between two checks, six minutes apart, 120 more may be written.
  ok(revision - compactedRevision <= 50 + 6 * 20, `${revision - compactedRevision} revisions are kept`);
});

test("an idle store is written to once and never again", async () => {
  const { revision } = await run({ intervalMs: 5 * MINUTE_MS, revisionsMax: 1_000 }, 0, 600);
  equal(revision, 2);
});
