/** Free pages return to the file system while the store is in use, without loss or long delays. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { sha256 } from "../../host/crypto/hash.ts";
import { realClock } from "../../host/real-clock.ts";
import { hashState } from "../snapshot.ts";
import type { Store } from "../store.ts";
import { bytesValue } from "../value.ts";
import { PODS, Seen, committed, put } from "../testing/harness.ts";
import { Disk } from "./disk.ts";
import { openEmbeddedStore } from "./embedded-store.ts";
import { checkPages } from "./page-check.ts";
import { SHRINK_ABOVE_BYTES } from "./shrink.ts";
import { inDirectory, openIn } from "./testing/temporary.ts";

/** What the file system has allocated for a file, in bytes. */
async function allocatedBytes(file: string): Promise<number> {
  return (await stat(file)).blocks * 512;
}

/** Overwrites ten keys until their history takes several times what a file may keep. */
async function writeHistory(store: Store): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const value = bytesValue(new Uint8Array(200_000).fill(round));
    await Promise.all(Array.from({ length: 10 }, (_, index) => committed(store, { type: "put", key: `${PODS}p${index}`, value })));
  }
}

test(`compaction returns the space of history to the file system while the store is open: below ${SHRINK_ABOVE_BYTES} bytes with 2 MB in use`, () =>
  inDirectory(async (directory) => {
    const file = join(directory, "store.mdb");
    const store = await openIn(directory);
    await writeHistory(store);
    ok((await allocatedBytes(file)) > 2 * SHRINK_ABOVE_BYTES);
    const before = await hashState(store, sha256());
    const seen = new Seen(store, PODS, await store.currentRevision());

    await store.compact(await store.currentRevision());

    ok((await allocatedBytes(file)) < SHRINK_ABOVE_BYTES / 2, `${await allocatedBytes(file)} bytes are allocated`);
    ok((await store.statistics()).sizeBytes < SHRINK_ABOVE_BYTES / 2);
    deepEqual(await hashState(store, sha256()), before);
    const revision = await committed(store, put(`${PODS}new`, "1"));
    await seen.untilRevision(revision);
    equal(seen.changes.length, 1);
    for (const name of await readdir(directory)) equal((await stat(join(directory, name))).mode & 0o777, 0o600, name);
    deepEqual((await readdir(directory)).sort(), ["holder", "store.mdb", "store.mdb-lock"]);
    await store.close();
    await checkPages(file);
    const again = await openIn(directory);
    deepEqual([await again.currentRevision(), (await again.list(PODS)).entries.length], [revision, 11]);
    await again.close();
  }));

test("commits, lists and watches continue while the data moves to a smaller file, and all of them survive a restart", () =>
  inDirectory(async (directory) => {
    const options = { directory, clock: realClock, log: silentLogger, shrinkAboveBytes: 1 };
    const store = await openEmbeddedStore(options);
    const start = await store.currentRevision();
    const seen = new Seen(store, PODS, start);
    let compacting = true;
    const write = async (writer: number) => {
      const revisions: number[] = [];
      for (let count = 0; compacting || count < 10; count++) {
        revisions.push(await committed(store, put(`${PODS}w${writer}`, `${count}`.padEnd(4_000, "x"))));
        await store.list(PODS);
      }
      return revisions;
    };
    const writers = [0, 1, 2, 3].map(write);
    await writeHistory(store);
    for (let time = 0; time < 5; time++) {
      await writeHistory(store);
      await store.compact(await store.currentRevision());
    }
    compacting = false;
    const revisions = (await Promise.all(writers)).flat();
    const newest = await store.currentRevision();
    await seen.untilRevision(newest);
    equal(seen.changes.length, newest - start, "the watch saw every commit once");
    equal(new Set(revisions).size, revisions.length);
    const before = await hashState(store, sha256());
    await store.close();
    const again = await openEmbeddedStore(options);
    deepEqual(await hashState(again, sha256()), before);
    await again.close();
  }));

test("another process cannot open the file after its data has moved", () =>
  inDirectory(async (directory) => {
    const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger, shrinkAboveBytes: 1 });
    await writeHistory(store);
    await store.compact(await store.currentRevision());
    await store.get(`${PODS}p0`);
    let message = "";
    try {
      await new Disk(join(directory, "store.mdb")).close();
    } catch (error) {
      message = (error as Error).message;
    }
    ok(message.includes("another process has it open"), message);
    await store.close();
  }));
