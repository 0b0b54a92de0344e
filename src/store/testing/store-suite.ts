/**
 * What every store driver must do. A driver's own test file calls `storeSuite`, the suites of its capabilities, and adds tests of what is
 * specific to it.
 */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { realMacrotask, sha256 } from "../../testing/machine.ts";
import type { Entry, ForkableStore, RestorableStore, Store } from "../store.ts";
import { hashState, readSnapshot } from "../snapshot.ts";
import { commitSuite } from "./commit-suite.ts";
import { PODS, Seen, committed, del, put, show, storeTest, text, type Driver } from "./harness.ts";
import { randomSuite } from "./random-suite.ts";
import { readSuite } from "./read-suite.ts";
import { inPieces, serviceSuite, snapshotBytes } from "./service-suite.ts";
import { watchSuite } from "./watch-suite.ts";

export function storeSuite(driver: Driver): void {
  commitSuite(driver);
  readSuite(driver);
  watchSuite(driver);
  serviceSuite(driver);
  randomSuite(driver);
}

/** For drivers whose listeners see commits before they are acknowledged: those that own their data. */
export function ownedSuite(driver: Driver): void {
  storeTest(driver, "commits that are made together happen in the order of the calls, and each sees those before it", async (store) => {
    const start = await store.currentRevision();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.commit([put(`${PODS}a`, String(index), index === 0 ? { is: "absent" } : { is: "at", revision: start + index })]),
      ),
    );
    deepEqual(
      results.map((result) => result.committed && result.revision),
      results.map((_, index) => start + 1 + index),
    );
  });

  storeTest(driver, "a listener that returns nothing has seen a commit before it is answered", async (store) => {
    const seen = new Seen(store, PODS, await store.currentRevision());
    for (let index = 0; index < 20; index++) {
      const revision = await committed(store, put(`${PODS}a`, String(index)));
      equal(seen.changes.at(-1)?.revision, revision);
    }
  });
}

/** For drivers that report when a revision becomes visible. */
export function visibleSuite(driver: Driver): void {
  storeTest(
    driver,
    "a visible revision is reported after its changes, before its commit is answered, and until it is ended",
    async (store) => {
      const seen = new Seen(store, PODS, await store.currentRevision());
      const reports: [number, number | undefined][] = [];
      const end = store.onVisible?.((revision) => reports.push([revision, seen.changes.at(-1)?.revision]));
      const watched = await committed(store, put(`${PODS}a`, "1"));
      deepEqual(reports.at(-1), [watched, watched]);
      const unwatched = await committed(store, put("/services/specs/a", "1"));
      deepEqual(reports.at(-1), [unwatched, watched]);
      end?.();
      await committed(store, put(`${PODS}a`, "2"));
      deepEqual(reports.at(-1), [unwatched, watched]);
    },
  );

  storeTest(driver, "a revision that a listener's own commit makes visible is reported after its changes", async (store) => {
    const start = await store.currentRevision();
    const seen = new Seen(store, PODS, start);
    const nested: Promise<unknown>[] = [];
    const changes = () => {
      if (nested.length === 0) nested.push(store.commit([put(`${PODS}b`, "1")]));
    };
    store.watch(PODS, { after: start }, { changes, ended: () => undefined });
    const behind: number[] = [];
    store.onVisible?.((revision) => {
      if (seen.changes.at(-1)?.revision !== revision) behind.push(revision);
    });
    await committed(store, put(`${PODS}a`, "1"));
    await Promise.all(nested);
    await seen.untilRevision(start + 2);
    deepEqual(behind, []);
  });
}

export function forkableSuite(driver: Driver<ForkableStore>): void {
  test(`${driver.name}: a fork has the same state and history, and is then independent`, async () => {
    const { store } = await driver.open();
    const first = await committed(store, put(`${PODS}a`, "1"));
    const second = await committed(store, put(`${PODS}a`, "2"));
    const inOriginal = new Seen(store, PODS, second);

    const fork = store.fork();
    const inFork = new Seen(fork, PODS, first);
    await committed(store, put(`${PODS}a`, "original"));
    await committed(fork, del(`${PODS}a`));
    await inFork.untilRevision(second + 1);

    equal(show(await fork.get(`${PODS}a`, { revision: first })), `${PODS}a=1@${first}`);
    deepEqual(inFork.lines, [`put ${PODS}a=2@${second} (was 1@${first})`, `delete ${PODS}a@${second + 1} (was 2@${second})`]);
    deepEqual(inOriginal.lines, [`put ${PODS}a=original@${second + 1} (was 2@${second})`]);
    await Promise.all([store.close(), fork.close()]);
  });

  test(`${driver.name}: compacting a fork does not affect the original, nor vice versa`, async () => {
    const { store } = await driver.open();
    const first = await committed(store, put(`${PODS}a`, "1"));
    await committed(store, put(`${PODS}b`, "1"));
    const third = await committed(store, put(`${PODS}a`, "2"));
    const forks = [store.fork(), store.fork()] as const;

    await forks[0].compact(third);
    equal(show(await store.get(`${PODS}a`, { revision: first })), `${PODS}a=1@${first}`);
    await store.compact(third);
    equal(show(await forks[1].get(`${PODS}a`, { revision: first })), `${PODS}a=1@${first}`);
    await rejects(forks[0].get(`${PODS}a`, { revision: first }), { reason: "Compacted" });
    await Promise.all([store, ...forks].map((each) => each.close()));
  });
}

export function restorableSuite(driver: Driver<RestorableStore>): void {
  const restored = async (from: Store): Promise<RestorableStore> => {
    const { store } = await driver.open();
    const snapshot = await readSnapshot(inPieces(await snapshotBytes(from), 4_096), sha256());
    await store.restore(snapshot.entries, snapshot.revision);
    return store;
  };

  test(`${driver.name}: a restored store has the snapshot's state, revisions and hash, and continues from there`, async () => {
    const { store: source } = await driver.open();
    await committed(source, put(`${PODS}gone`, "1"));
    for (let index = 0; index < 50; index++) await committed(source, put(`${PODS}p${index}`, String(index)));
    const revision = await committed(source, del(`${PODS}gone`));

    const store = await restored(source);

    equal((await hashState(store, sha256())).hash, (await hashState(source, sha256())).hash);
    const seen = new Seen(store, PODS, revision);
    await rejects(store.list(PODS, { revision: revision - 1 }), { reason: "Compacted" });
    equal((await new Seen(store, PODS, revision - 1).untilEnd()).reason, "compacted");
    const p0 = await store.get(`${PODS}p0`);
    equal(await committed(store, put(`${PODS}p0`, "new", { is: "at", revision: p0?.revision ?? 0 })), revision + 1);
    await seen.untilRevision(revision + 1);
    deepEqual(seen.lines, [`put ${PODS}p0=new@${revision + 1} (was 0@${p0?.revision})`]);
    await Promise.all([source.close(), store.close()]);
  });

  test(`${driver.name}: a store that was written to rejects a restore`, async () => {
    const { store: source } = await driver.open();
    await committed(source, put(`${PODS}a`, "1"));
    const snapshot = await readSnapshot(inPieces(await snapshotBytes(source), 4_096), sha256());
    await rejects(source.restore(snapshot.entries, snapshot.revision), { reason: "Invalid" });
    await source.close();
  });

  test(`${driver.name}: during a restore nothing else is written, and open watches end as compacted`, async () => {
    const { store, close } = await driver.open();
    const watch = new Seen(store, PODS, await store.currentRevision());
    const refusals: string[] = [];
    const noteRefusal = (error: unknown) => void refusals.push((error as Error).message);
    async function* entries(): AsyncGenerator<Entry> {
      yield { key: `${PODS}a`, revision: 5, value: text("1") };
      await store.commit([put(`${PODS}b`, "1")]).then(() => undefined, noteRefusal);
      await store.compact(1).then(() => undefined, noteRefusal);
      await store.restore(entries(), 9).then(() => undefined, noteRefusal);
      yield { key: `${PODS}c`, revision: 7, value: text("1") };
    }

    await store.restore(entries(), 9);

    deepEqual(
      refusals,
      ["commit", "compact", "restore"].map((action) => `Cannot ${action}: the store is being restored; wait until that is done`),
    );
    deepEqual(watch.ends, [{ reason: "compacted", compactedRevision: 9 }]);
    deepEqual((await store.list("")).entries.map(show), [`${PODS}a=1@5`, `${PODS}c=1@7`]);
    equal((await store.statistics()).keys, 2);
    equal(await committed(store, put(`${PODS}b`, "1")), 10);
    await store.close();
    await close?.();
  });

  test(`${driver.name}: entries that cannot be of the snapshot restore nothing`, async () => {
    for (const entry of [
      { key: `${PODS}b`, revision: 10, value: text("newer than the snapshot") },
      { key: `${PODS}b`, revision: 0, value: text("never") },
      { key: "b", revision: 5, value: text("no key") },
    ]) {
      const { store, close } = await driver.open();
      async function* entries(): AsyncGenerator<Entry> {
        yield { key: `${PODS}a`, revision: 5, value: text("1") };
        yield entry;
      }
      await rejects(store.restore(entries(), 9), { reason: "Invalid" });
      deepEqual([(await store.list("")).entries, (await store.statistics()).keys], [[], 0]);
      await committed(store, put(`${PODS}b`, "1", { is: "absent" }));
      await store.close();
      await close?.();
    }
  });

  test(`${driver.name}: closing cancels a restore, which rejects`, async () => {
    const { store, close } = await driver.open();
    async function* entries(): AsyncGenerator<Entry> {
      for (let index = 0; ; index++) {
        if (index === 10) void store.close();
        yield { key: `${PODS}p${index}`, revision: 5, value: text("1") };
        await realMacrotask();
      }
    }
    await rejects(store.restore(entries(), 9), { reason: "Closed" });
    await store.close();
    await close?.();
  });

  test(`${driver.name}: a damaged snapshot restores nothing`, async () => {
    const { store: source } = await driver.open();
    const { store } = await driver.open();
    for (let index = 0; index < 20; index++) await committed(source, put(`${PODS}p${index}`, String(index)));
    const bytes = await snapshotBytes(source);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1; // In the last record, after many good ones.
    const snapshot = await readSnapshot(inPieces(bytes, 4_096), sha256());

    await rejects(store.restore(snapshot.entries, snapshot.revision), { reason: "Damaged" });

    deepEqual((await store.list("")).entries, []);
    ok((await store.currentRevision()) < snapshot.revision);
    await committed(store, put(`${PODS}a`, "1"));
    await Promise.all([source.close(), store.close()]);
  });
}
