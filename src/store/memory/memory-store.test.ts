import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "../../testing/machine.ts";
import { lazyValue } from "../value.ts";
import { PODS, Seen, committed, del, put, show } from "../testing/harness.ts";
import { forkableSuite, ownedSuite, restorableSuite, storeSuite, visibleSuite } from "../testing/store-suite.ts";
import { openMemoryStore } from "./memory-store.ts";

const driver = { name: "memory", open: async () => ({ store: openMemoryStore({ clock: realClock }) }) };

storeSuite(driver);
ownedSuite(driver);
visibleSuite(driver);
forkableSuite(driver);
restorableSuite(driver);

test("memory: a value that is written, read, listed and watched as a memo is never serialised", async () => {
  const store = openMemoryStore({ clock: realClock });
  const seen = new Seen(store, PODS, await store.currentRevision());
  const memo = Object.freeze({ kind: "Pod" });
  const makeBytes = () => {
    throw new Error("Bytes were not requested");
  };

  await committed(store, { type: "put", key: `${PODS}a`, value: lazyValue({ memo, makeBytes, sizeBytes: () => 14 }) });

  equal((await store.get(`${PODS}a`))?.value.memo, memo);
  equal((await store.list(PODS)).entries[0]?.value.memo, memo);
  equal(seen.changes[0]?.type === "put" && seen.changes[0].value.memo, memo);
  await store.close();
});

test("memory: a fork at a later revision has the same keys, no history, and writes above that revision", async () => {
  const store = openMemoryStore({ clock: realClock });
  await committed(store, put(`${PODS}kept`, "x"));
  await committed(store, put(`${PODS}deleted`, "x"));
  const before = await committed(store, del(`${PODS}deleted`));

  const fork = store.fork({ clock: realClock, revision: 1_000_000 });

  deepEqual(
    (await fork.list(PODS)).entries.map(({ key }) => key),
    [`${PODS}kept`],
  );
  await rejects(fork.list(PODS, { revision: before }), /compacted/);
  equal(await committed(fork, put(`${PODS}new`, "x")), 1_000_001);
  equal(await store.currentRevision(), before);
  throws(() => fork.fork({ clock: realClock, revision: 5 }), /Cannot fork at revision 5: the store is at 1000001/);
  await Promise.all([store.close(), fork.close()]);
});

test("memory: a compaction of many revisions yields to reads and writes, and drops all of the revisions", async () => {
  const store = openMemoryStore({ clock: realClock });
  const key = (index: number) => `${PODS}${index % 700}`;
  const first = await committed(store, put(key(0), "0"));
  for (let index = 1; index < 5_000; index++)
    await committed(store, index % 50 === 7 ? put(`${PODS}gone`, "x") : put(key(index), `${index}`));
  await committed(store, del(`${PODS}gone`));
  const newest = await store.currentRevision();
  const before = (await store.list(PODS)).entries.map(show);
  let isOver = false;

  const compacting = store.compact(newest).then(() => (isOver = true));
  await new Promise(setImmediate);
  const meanwhile = await committed(store, put(key(3), "new"));

  equal(isOver, false);
  equal((await store.statistics()).compactedRevision, newest);
  await rejects(store.get(key(0), { revision: first }), { reason: "Compacted" });
  await compacting;
  deepEqual((await store.list(PODS, { revision: newest })).entries.map(show), before);
  equal(show(await store.get(key(3))), `${key(3)}=new@${meanwhile}`);
  await store.close();
});

test("memory: closing ends a compaction", async () => {
  const store = openMemoryStore({ clock: realClock });
  for (let index = 0; index < 5_000; index++) await committed(store, put(`${PODS}a`, `${index}`));

  const compacting = store.compact(await store.currentRevision());
  await store.close();

  await compacting;
});
