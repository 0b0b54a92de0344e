import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import type { StoreError } from "../store-error.ts";
import { PODS, committed, put } from "../testing/harness.ts";
import { Disk } from "./disk.ts";
import { openEmbeddedStore } from "./embedded-store.ts";
import { readFileHeaders } from "./file-header.ts";
import { NO_POSITION, positionOf } from "./records.ts";
import { PageFile } from "./testing/damage.ts";
import { landmarksOf } from "./testing/landmarks.ts";

async function inDirectory(body: (directory: string, file: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-disk-"));
  try {
    await body(directory, join(directory, "store.mdb"));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function withDisk(body: (disk: Disk) => Promise<void>): Promise<void> {
  await inDirectory(async (_, file) => {
    const disk = new Disk(file);
    try {
      await body(disk);
    } finally {
      await disk.close();
    }
  });
}

// ── damage ────────────────────────────────────────────────────────────────────────────────────────────

test("damage under an open store is reported as Damaged, each time; the rest is readable, and the next holder is warned", () =>
  inDirectory(async (directory, file) => {
    const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
    const keys = Array.from({ length: 200 }, (_, number) => `${PODS}p${String(number).padStart(3, "0")}`);
    for (const [number, key] of keys.entries()) await committed(store, put(key, "x".repeat((200 - number) * 50)));
    await store.compact(20); // Creates free pages.
    await loseLeafOfLog(file);

    const get = (key: string) => store.get(key).then(() => "read", messageOf);
    const some = keys.filter((_, number) => number % 10 === 0); // lmdb writes a line to standard error for each lost page.
    const first = await Promise.all(some.map(get));
    const again = await Promise.all(some.map(get));
    deepEqual(
      new Set(first),
      new Set([
        "read",
        "Damaged: Cannot read the store: a part of the file cannot be read; restore a snapshot into an empty data directory",
      ]),
    );
    ok(first.filter((answer) => answer === "read").length > some.length / 2, "one leaf is lost, and no more");
    deepEqual(again, first);
    await rejects(store.list(PODS), { reason: "Damaged" });
    equal((await store.list(`${PODS}p19`)).entries.length, 10);

    await store.close();
    ok(existsSync(join(directory, "holder")), "a store in doubt is abandoned and not released");
    await rejects(openEmbeddedStore({ directory, clock: realClock, log: silentLogger }), { reason: "Damaged", message: /points to page/ });
  }));

test("scanning the log ends with Damaged where a part is lost, and succeeds elsewhere, however often it is retried", () =>
  inDirectory(async (_, file) => {
    const disk = new Disk(file);
    for (let revision = 1; revision <= 200; revision++) {
      const record = { key: `/p${revision}`, deleted: false, previous: NO_POSITION, keys: 0 };
      await disk.write(() => disk.putRecord(positionOf(revision, 0), record, new Uint8Array((200 - revision) * 50)));
    }
    for (let revision = 1; revision <= 10; revision++) await disk.write(() => disk.removeRecord(positionOf(revision, 0)));
    await loseLeafOfLog(file);

    for (let time = 0; time < 5; time++) {
      let visited = 0;
      const count = () => ++visited > 0;
      throws(() => disk.visitLog({ from: 0, before: positionOf(300, 0) }, count), { reason: "Damaged" });
      ok(visited > 0 && visited < 100, `${visited} were visited`);
      visited = 0;
      disk.visitLog({ from: positionOf(191, 0), before: positionOf(300, 0) }, count);
      equal(visited, 10);
    }
    equal(disk.isInDoubt, true);
    await disk.close();
  }));

function messageOf(error: unknown): string {
  const { reason, message } = error as StoreError;
  return `${reason}: ${message}`;
}

/** Makes the root point beyond the file where a leaf of the log was, in the file itself: processes that map it see that at once. */
async function loseLeafOfLog(file: string): Promise<void> {
  const { pageSize = 0 } = (await readFileHeaders(file))?.newer ?? {};
  const pages = new PageFile(new Uint8Array(await readFile(file)), pageSize);
  const { otherLeafReference: node } = landmarksOf(pages);
  const handle = await open(file, "r+");
  await handle.write(Uint8Array.of(0xff, 0xff, 0xff, 0), 0, 4, node);
  await handle.close();
}

test("an exception of the visitor is rethrown, and the file is not in doubt", () =>
  withDisk(async (disk) => {
    await disk.write(() => disk.putRecord(128, { key: "/a", deleted: false, previous: NO_POSITION, keys: 0 }, new Uint8Array(1)));
    const mistake = new TypeError("a mistake of the visitor");
    const throwing = () => {
      throw mistake;
    };
    throws(() => disk.visitHeads({ from: new Uint8Array(0) }, throwing), mistake);
    throws(() => disk.visitLog({ from: 0, before: 1_000 }, throwing), mistake);
    equal(disk.isInDoubt, false);
  }));

// ── owners ────────────────────────────────────────────────────────────────────────────────────────────

test("after another process has taken over the directory, writes are refused as Locked without effect; reads still work", () =>
  withDisk(async (disk) => {
    await disk.own(1);
    await disk.write(() => disk.putMeta("revision", 10));
    await disk.write(() => disk.putMeta("owner", 2)); // As the other process does.
    await rejects(
      disk.write(() => disk.putMeta("revision", 11)),
      { reason: "Locked", message: /^Cannot write to .*: another process has taken over the data directory; / },
    );
    equal(disk.meta("revision"), 10);
    await disk.own(3).catch((error: unknown) => equal((error as { reason: string }).reason, "Locked"));
    equal(disk.meta("owner"), 2);
  }));

test("a file that is already open is refused as Locked", () =>
  inDirectory(async (_, file) => {
    const disk = new Disk(file);
    disk.meta("format");
    throws(() => new Disk(file), { reason: "Locked", message: /^Cannot open .*store\.mdb: another process has it open/ });
    await disk.write(() => disk.putMeta("revision", 1));
    await disk.close();
    const again = new Disk(file);
    equal(again.meta("revision"), 1);
    await again.close();
  }));

// ── long keys ─────────────────────────────────────────────────────────────────────────────────────────

test("keys beyond lmdb's limit are absent, and sort correctly as bounds", () =>
  withDisk(async (disk) => {
    const keys = ["/a", "/b", `/b${"b".repeat(1_000)}`, "/c"];
    await disk.write(() =>
      keys.forEach((key, index) =>
        disk.putRecord(128 * (index + 1), { key, deleted: false, previous: NO_POSITION, keys: 0 }, new Uint8Array(1)),
      ),
    );
    for (const key of ["", ...[1_978, 1_979, 4_000, 5_000, 100_000].flatMap((length) => ["b".repeat(length), "é".repeat(length)])]) {
      equal(disk.head(key), undefined, `a key of ${key.length}`);
    }
    const bounds = ["/", "/b", ...["a", "b", "c", "é"].flatMap((unit) => [1_500, 5_000].map((length) => `/b${unit.repeat(length)}`)), "/d"];
    for (const from of bounds) {
      for (const before of bounds) {
        const found: string[] = [];
        disk.visitHeads({ from: Buffer.from(from), before: Buffer.from(before) }, (key) => found.push(key) > 0);
        const expected = keys.filter(
          (key) => Buffer.compare(Buffer.from(key), Buffer.from(from)) >= 0 && Buffer.compare(Buffer.from(key), Buffer.from(before)) < 0,
        );
        deepEqual(found, expected, `from ${from.slice(0, 4)}… of ${from.length} before ${before.slice(0, 4)}… of ${before.length}`);
      }
    }
    equal(disk.isInDoubt, false);
  }));
