/** Every file that lmdb wrote is accepted; no damaged one can end the process or show data that was never written. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { pick, seededRandom, type Random } from "../../base/random.ts";
import { startProgram } from "../../host/processes/child-process.ts";
import { realClock } from "../../host/real-clock.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { RestorableStore } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { bytesValue } from "../value.ts";
import { committed, del, put } from "../testing/harness.ts";
import { openEmbeddedStore } from "./embedded-store.ts";
import { Disk } from "./disk.ts";
import { readFileHeaders } from "./file-header.ts";
import { checkPages } from "./page-check.ts";
import { shrink } from "./shrink.ts";
import { DAMAGES, PageFile, type Damage } from "./testing/damage.ts";
import { landmarksOf, legacyRecordsOf, type Landmarks } from "./testing/landmarks.ts";
import { LEGACY_LIFE, writeLegacyStore } from "./testing/legacy-store.ts";
import { LIVES, describe, step } from "./testing/store-life.ts";

function openIn(directory: string): Promise<RestorableStore> {
  return openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
}

async function inDirectory(body: (directory: string, file: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-pages-"));
  try {
    await body(directory, join(directory, "store.mdb"));
  } finally {
    await rm(directory, { recursive: true });
  }
}

// ── healthy files ─────────────────────────────────────────────────────────────────────────────────────

const STEPS = rounds({ quick: 30, full: 300 });

for (const life of LIVES) {
  test(`a store of ${life.name} is accepted after each of ${STEPS} steps, open, closed and opened again (K8TS_SEED=${testSeed()})`, () =>
    inDirectory(async (directory, file) => {
      const random = seededRandom(testSeed()).derive(life.name);
      let store = await openIn(directory);
      for (let count = 0; count < STEPS; count++) {
        await step(store, life, random);
        await checkPages(file);
        if (random.below(10) > 0) continue;
        await store.close();
        await checkPages(file);
        store = await openIn(directory);
      }
      await store.close();
    }));
}

test("an empty file and the file of a new store are accepted", () =>
  inDirectory(async (directory, file) => {
    await writeFile(file, "");
    await checkPages(file);
    const store = await openIn(directory);
    await checkPages(file);
    await store.close();
    await checkPages(file);
  }));

test(`a store that was shrunk is accepted, at once and while it is used, and holds what it held (K8TS_SEED=${testSeed()})`, async () => {
  for (const life of LIVES) {
    await inDirectory(async (directory, file) => {
      const random = seededRandom(testSeed()).derive(life.name);
      const store = await openIn(directory);
      for (let count = 0; count < 20; count++) await step(store, life, random);
      const content = await describe(store);
      await store.close();
      const disk = new Disk(file);
      equal(await shrink({ disk, file, open: (path) => new Disk(path) }), true);
      await disk.close();
      deepEqual((await readdir(directory)).sort(), ["store.mdb", "store.mdb-lock"]);
      await checkPages(file);

      const again = await openIn(directory);
      await checkPages(file);
      equal(await describe(again), content);
      for (let count = 0; count < 20; count++) {
        await step(again, life, random);
        await checkPages(file);
      }
      await again.close();
    });
  }
});

test("a store that was restored from entries is accepted", () =>
  inDirectory(async (directory, file) => {
    const store = await openIn(directory);
    await store.restore(
      (async function* () {
        for (let number = 0; number < 3_000; number++) {
          const value = bytesValue(new Uint8Array(number));
          yield { key: `/pods/p${String(number).padStart(5, "0")}`, value, revision: number + 2 };
        }
      })(),
      4_000,
    );
    await checkPages(file);
    await store.close();
  }));

const KILLS = rounds({ quick: 5, full: 100 });

test(`the file of a store whose process was killed is accepted, ${KILLS} times (K8TS_SEED=${testSeed()})`, () =>
  inDirectory(async (directory, file) => {
    const random = seededRandom(testSeed());
    for (let round = 0; round < KILLS; round++) {
      await commitAndKill(directory, { round, afterLines: 1 + random.below(500) });
      await checkPages(file);
    }
  }));

/** Kills a process that commits to the store after that many lines of output. */
async function commitAndKill(
  directory: string,
  { round, afterLines }: { readonly round: number; readonly afterLines: number },
): Promise<void> {
  const program = join(import.meta.dirname, "testing", "crash-child.js");
  const child = spawn(process.execPath, [program, directory, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  let lines = 0;
  createInterface({ input: child.stdout }).on("line", () => {
    lines += 1;
    if (lines === afterLines) child.kill("SIGKILL");
  });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  equal(signal, "SIGKILL", "the child must not have ended by itself");
}

test("a file that ends before its last page is accepted as long as the missing pages are free, and nothing is lost", () =>
  inDirectory(async (directory, file) => {
    const store = await openIn(directory);
    for (let number = 0; number < 50; number++) await committed(store, put(`/pods/p${number}`, "x".repeat(20_000)));
    for (let number = 25; number < 50; number++) await committed(store, del(`/pods/p${number}`));
    await store.compact(await store.currentRevision());
    // Small commits move the pages of the tree into free ones that precede those of the values.
    for (let number = 0; number < 10; number++) await committed(store, put("/core/pods/small", String(number)));
    const content = await describe(store);
    await store.close();
    const { pageSize = 0, lastPage = 0 } = (await readFileHeaders(file))?.newer ?? {};

    let pages = (await stat(file)).size / pageSize;
    equal(pages, lastPage + 1);
    await copyFile(file, `${file}.whole`);
    do await truncate(file, --pages * pageSize);
    while (await isAccepted(file));
    ok(lastPage - pages > 10, `there must be free pages at the end, there are ${lastPage - pages}`);

    await rejects(openIn(directory), { reason: "Damaged" });
    await copyFile(`${file}.whole`, file);
    await truncate(file, (pages + 1) * pageSize);
    const again = await openIn(directory);
    equal(await describe(again), content);
    await again.close();
    equal((await stat(file)).size, (lastPage + 1) * pageSize);
  }));

async function isAccepted(file: string): Promise<boolean> {
  try {
    await checkPages(file);
    return true;
  } catch (error) {
    if (isStoreError(error, "Damaged")) return false;
    throw error;
  }
}

// ── damaged files ─────────────────────────────────────────────────────────────────────────────────────

/** What is done to the bytes of a healthy file, and the expected message. */
const ROWS: readonly {
  readonly it: string;
  readonly damage: (file: PageFile, at: Landmarks) => void;
  readonly says: RegExp;
}[] = [
  { it: "a page of zeros", damage: (file, at) => file.zero(at.branch, file.pageSize), says: /page \d+ of \S+ says that it is page 0;/ },
  {
    it: "a page in the place of another",
    damage: (file, at) => file.swap(at.leaf, at.otherLeaf),
    says: /page \d+ .* says that it is page \d+/,
  },
  { it: "a leaf marked as a branch", damage: ({ view }, at) => set16(view, at.leaf + 18, 1), says: /is of kind 1 where it should be 2/ },
  {
    it: "a leaf younger than its branch",
    damage: ({ view }, at) => set32(view, at.leaf + 8, 1_000_000),
    says: /is of transaction 1000000, what points to it of \d+/,
  },
  { it: "a leaf of one node and a half", damage: ({ view }, at) => set16(view, at.leaf + 20, 3), says: /has the bounds 3 and \d+/ },
  { it: "a leaf without nodes", damage: ({ view }, at) => set16(view, at.leaf + 20, 0), says: /has the bounds 0 and \d+/ },
  {
    it: "a leaf whose nodes begin beyond it",
    damage: ({ view }, at) => set16(view, at.leaf + 22, 60_000),
    says: /has the bounds \d+ and 60000/,
  },
  { it: "a branch with one node", damage: ({ view }, at) => set16(view, at.branch + 20, 2), says: /is a branch with one node/ },
  { it: "a node beyond its page", damage: ({ view }, at) => set16(view, at.leaf + 24, 60_000), says: /has a node at 60000/ },
  {
    it: "a node that ends beyond its page",
    damage: ({ view }, at) => set16(view, at.overflowing + 6, 60_000),
    says: /has a node of \d+ bytes over its end/,
  },
  {
    it: "a node that leaves a gap",
    damage: ({ view }, at) => set32(view, at.small, view.getUint32(at.small, true) - 2),
    says: /has \d+ bytes of nodes where there should be \d+/,
  },
  {
    it: "keys in the wrong order",
    damage: ({ view }, at) => set16(view, at.leaf + 24, view.getUint16(at.leaf + 26, true)),
    says: /has keys out of order/,
  },
  {
    it: "keys in the wrong order in a branch",
    damage: ({ view }, at) => set16(view, at.branch + 26, view.getUint16(at.branch + 28, true)),
    says: /has keys out of order/,
  },
  {
    it: "free pages of no transaction",
    damage: ({ view }, at) => set64(view, at.freeList - 8, 0),
    says: /lists what no transaction freed/,
  },
  {
    it: "a branch that leads beyond the file",
    damage: (file, at) => set32(file.view, firstNode(file, at.branch), at.lastPage + 1),
    says: /the data tree points to page \d+, and \S+ has \d+/,
  },
  {
    it: "a branch that points to a header",
    damage: (file, at) => set32(file.view, firstNode(file, at.branch), 1),
    says: /the data tree points to page 1,/,
  },
  {
    it: "a value whose pages are fewer than they should be",
    damage: ({ view }, at) => set32(view, at.run + 20, 1),
    says: /is not the first of the \d+ pages that transaction \d+ wrote/,
  },
  {
    it: "a value whose pages are of another transaction",
    damage: ({ view }, at) => set32(view, at.run + 8, 1),
    says: /is not the first of the \d+ pages/,
  },
  {
    it: "a value in the pages of another",
    damage: ({ bytes }, at) => bytes.copyWithin(at.alsoOverflowing + 17, at.overflowing + 17, at.overflowing + 41),
    says: /page \d+ .* is used twice/,
  },
  {
    it: "a value beyond the file",
    damage: ({ view }, at) => set32(view, at.overflowing + 8 + 9 + 16, 100_000),
    says: /has data in the 100000 pages from \d+ on/,
  },
  {
    it: "a value longer than its pages",
    damage: ({ view }, at) => set32(view, at.overflowing, 1_000_000),
    says: /has data in the \d+ pages from \d+ on/,
  },
  {
    it: "a tree with a wrong depth",
    damage: ({ view }, at) => set16(view, at.dataRecord + 6, 3),
    says: /is of kind 2 where it should be 1/,
  },
  {
    it: "a tree of another kind",
    damage: ({ view }, at) => set16(view, at.dataRecord + 4, 4),
    says: /the data tree in \S+ has the flags 4/,
  },
  {
    it: "a key of no part",
    damage: ({ bytes }, at) => void (bytes[at.small + 8] = 9),
    says: /has a key of 9 bytes in part 9/,
  },
  {
    it: "a value that is marked as a map",
    damage: ({ view }, at) => set16(view, at.small + 4, 2),
    says: /has a node with the flags 2/,
  },
  {
    it: "a tree marked as empty",
    damage: ({ view }, at) => set16(view, at.dataRecord + 6, 0),
    says: /the data tree in \S+ has the depth 0 and the root \d+/,
  },
  {
    it: "a tree with an entry count of 1",
    damage: ({ view }, at) => set32(view, at.dataRecord + 32, 1),
    says: /the data tree in \S+ has \d+ entries where there should be 1/,
  },
  {
    it: "a tree with a leaf count of 0",
    damage: ({ view }, at) => set32(view, at.dataRecord + 16, 0),
    says: /has \d+ leafPages where there should be 0/,
  },
  {
    it: "a free page that is in use",
    damage: (file, at) => set64(file.view, at.freeList + 8, at.leaf / file.pageSize),
    says: /is in use and among the free pages/,
  },
  {
    it: "a free page beyond the last",
    damage: ({ view }, at) => set64(view, at.freeList + 8, at.lastPage + 1),
    says: /lists the 1 pages from \d+ on as free/,
  },
  {
    it: "a list of free pages that is longer than it can be",
    damage: ({ view }, at) => set32(view, at.freeList, 100_000),
    says: /lists 100000 free pages in \d+ bytes/,
  },
  {
    it: "headers that do not follow each other",
    damage: ({ view }, at) => set32(view, at.older + 152, 7),
    says: /the headers of \S+, of transactions \d+ and \d+, do not follow/,
  },
  {
    it: "a newer header with an older transaction number",
    damage: ({ view }, at) => set32(view, at.newer + 152, view.getUint32(at.newer + 152, true) - 2),
    says: /the older header of \S+ is of transaction \d+, its root \d+ is younger/,
  },
  {
    it: "an older header with a newer transaction number",
    damage: ({ view }, at) => set32(view, at.older + 152, view.getUint32(at.newer + 152, true) + 1),
    says: /the roots in \S+ are of transactions \d+ and \d+, the header of \d+/,
  },
  {
    it: "a header with too few pages",
    damage: ({ view }, at) => set32(view, at.newer + 144, 2),
    says: /points to page \d+, and \S+ has 3/,
  },
  {
    it: "a header with more pages than fit",
    damage: ({ view }, at) => set32(view, at.newer + 144 + 4, 1),
    says: /header of \S+ is broken|does not begin as a data file does/,
  },
];

/** The same for a file of format 1, which is checked before it is migrated. */
const LEGACY_ROWS: readonly {
  readonly it: string;
  readonly damage: (file: PageFile, at: ReturnType<typeof legacyRecordsOf>) => void;
  readonly says: RegExp;
}[] = [
  {
    it: "a node with a shorter key",
    damage: ({ view }, at) => set16(view, at.metaRecord - 7, 3),
    says: /has a map "met"/,
  },
  {
    it: "a record of a map that is marked as a value",
    damage: ({ view }, at) => set16(view, at.logRecord - 8, 0),
    says: /has a node with the flags 0/,
  },
  {
    it: "a record of a map that is too short",
    damage: ({ view }, at) => set32(view, at.logRecord - 12, 46),
    says: /has a record of 46 bytes/,
  },
  {
    it: "a map that points into another",
    damage: ({ view }, at) => set32(view, at.metaRecord + 40, view.getUint32(at.logRecord + 40, true)),
    says: /page \d+ .* is used twice/,
  },
  { it: "a map with another name", damage: ({ bytes }, at) => void (bytes[at.logRecord - 3] = 97), says: /has a map "lag\\u0000"/ },
  { it: "a map of another kind", damage: ({ view }, at) => set16(view, at.logRecord + 4, 4), says: /the map log in \S+ has the flags 4/ },
  { it: "a map with a wrong depth", damage: ({ view }, at) => set16(view, at.logRecord + 6, 3), says: /is of kind 2 where it should be 1/ },
  {
    it: "a map marked as empty",
    damage: ({ view }, at) => set16(view, at.logRecord + 6, 0),
    says: /the map log in \S+ has the depth 0 and the root \d+/,
  },
  {
    it: "a map with an entry count of 1",
    damage: ({ view }, at) => set32(view, at.logRecord + 32, 1),
    says: /the map log in \S+ has \d+ entries where there should be 1/,
  },
  {
    it: "a map with a leaf count of 0",
    damage: ({ view }, at) => set32(view, at.logRecord + 16, 0),
    says: /has \d+ leafPages where there should be 0/,
  },
];

function set16(view: DataView, at: number, value: number): void {
  view.setUint16(at, value, true);
}

function set32(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, true);
}

function set64(view: DataView, at: number, value: number): void {
  view.setBigUint64(at, BigInt(value), true);
}

function firstNode({ view }: PageFile, page: number): number {
  return page + 24 + view.getUint16(page + 24, true);
}

test(`each of ${ROWS.length} kinds of damage is rejected with the page and the problem`, () =>
  inDirectory(async (directory, file) => {
    const healthy = await aStoreWithAllKindsOfPages(directory, file);
    for (const { it, damage, says } of ROWS) {
      const damaged = new PageFile(healthy.bytes.slice(), healthy.pageSize);
      damage(damaged, landmarksOf(healthy));
      await writeFile(file, damaged.bytes);
      const error: unknown = await checkPages(file).catch((reason: unknown) => reason);
      ok(isStoreError(error, "Damaged") && says.test(error.message), `${it}: ${String(error)}`);
    }
  }));

test(`each of ${LEGACY_ROWS.length} kinds of damage of a file of format 1 is rejected, and the file is not migrated`, () =>
  inDirectory(async (directory, file) => {
    await writeLegacyStore(directory, LEGACY_LIFE);
    const healthy = await readPageFile(file);
    for (const { it, damage, says } of LEGACY_ROWS) {
      const damaged = new PageFile(healthy.bytes.slice(), healthy.pageSize);
      damage(damaged, legacyRecordsOf(healthy));
      await writeFile(file, damaged.bytes);
      const error: unknown = await openIn(directory).catch((reason: unknown) => reason);
      ok(isStoreError(error, "Damaged") && says.test(error.message), `${it}: ${String(error)}`);
      deepEqual(new Uint8Array(await readFile(file)), damaged.bytes);
    }
  }));

async function aStoreWithAllKindsOfPages(directory: string, file: string): Promise<PageFile> {
  const store = await openIn(directory);
  for (let number = 0; number < 200; number++) await committed(store, put(`/pods/p${number % 150}`, "x".repeat((200 - number) * 100)));
  await store.compact(180);
  await store.close();
  return readPageFile(file);
}

async function readPageFile(file: string): Promise<PageFile> {
  const { pageSize = 0 } = (await readFileHeaders(file))?.newer ?? {};
  return new PageFile(new Uint8Array(await readFile(file)), pageSize);
}

test("a truncated data file is not taken for a new one", () =>
  inDirectory(async (directory, file) => {
    await (await openIn(directory)).close();
    await truncate(file, 0);
    await rejects(openIn(directory), { reason: "Damaged", message: /store\.mdb is empty, and there were \d+ transactions/ });
  }));

for (const { it, wasClosed } of [
  { it: "closed", wasClosed: true },
  { it: "not closed", wasClosed: false },
]) {
  test(`a damaged store that was ${it} is rejected each time it is opened, and left unchanged`, () =>
    inDirectory(async (directory, file) => {
      const damaged = await aStoreWithAllKindsOfPages(directory, file);
      damaged.zero(landmarksOf(damaged).branch, damaged.pageSize);
      await writeFile(file, damaged.bytes);
      if (!wasClosed) await writeFile(join(directory, "holder"), "");
      for (let time = 0; time < 3; time++)
        await rejects(openIn(directory), { reason: "Damaged", message: /page \d+ of .*store\.mdb says/ });
      deepEqual(new Uint8Array(await readFile(file)), damaged.bytes);
    }));
}

const DAMAGED_STORES = rounds({ quick: 30, full: 1_000 });

test(`of ${DAMAGED_STORES} damaged stores none ends its process, and each is rejected or intact (K8TS_SEED=${testSeed()})`, () =>
  inDirectory(async (directory) => {
    const random = seededRandom(testSeed());
    const stores = await storesThatLived(directory, random);
    const counts = { refused: 0, whole: 0 };
    for (let round = 0; round < DAMAGED_STORES; round++) {
      const { home, content, file } = pick(random, stores);
      const damages = drawDamages(round, random);
      const copy = join(directory, "copy");
      await layDown(
        copy,
        home,
        round % 2 === 0 ? "killed" : "closed",
        damages.reduce((bytes, { to }) => to(new PageFile(bytes.slice(), file.pageSize), random), file.bytes),
      );
      const answer = await readByChild(copy, `round ${round}, with ${damages.map(({ name }) => name).join(" and ")}`);
      if (!answer.startsWith("Damaged "))
        equal(answer, `whole ${content}`, `round ${round}, with ${damages.map(({ name }) => name).join(" and ")}`);
      counts[answer.startsWith("Damaged ") ? "refused" : "whole"] += 1;
      await rm(copy, { recursive: true });
    }
    ok(counts.refused > DAMAGED_STORES / 4 && counts.whole > 0, `some must be refused and some not, were ${JSON.stringify(counts)}`);
  }));

interface LivedStore {
  readonly home: string;
  readonly content: string;
  readonly file: PageFile;
}

async function storesThatLived(directory: string, random: Random): Promise<LivedStore[]> {
  const stores: LivedStore[] = [];
  for (const [index, life] of LIVES.entries()) {
    const home = join(directory, `life-${index}`);
    const store = await openIn(home);
    for (let count = 0; count < 30; count++) await step(store, life, random);
    const content = await describe(store);
    await store.close();
    stores.push({ home, content, file: await readPageFile(join(home, "store.mdb")) });
  }
  return stores;
}

/** All kinds of damage in turn; some files have an additional one. */
function drawDamages(round: number, random: Random): Damage[] {
  const damage = DAMAGES[round % DAMAGES.length] as Damage;
  const before = pick(random, DAMAGES);
  return before.ends === true || random.below(4) > 0 ? [damage] : [before, damage];
}

/** A data directory as left by a holder that was killed, or closed it. */
async function layDown(directory: string, home: string, holder: "killed" | "closed", bytes: Uint8Array): Promise<void> {
  await mkdir(directory);
  await copyFile(join(home, "store.mdb-lock"), join(directory, "store.mdb-lock"));
  await writeFile(join(directory, "store.mdb"), bytes);
  if (holder === "killed") await writeFile(join(directory, "holder"), "");
}

/** Output of a process that opens the store. It must exit by itself, successfully, without other output. */
async function readByChild(directory: string, about: string): Promise<string> {
  const program = join(import.meta.dirname, "testing", "reader-child.js");
  const child = await startProgram({ command: process.execPath, arguments: [program, directory] });
  const exit = await child.exited;
  ok(exit.code === 0 && child.output.length === 1, `${about}: ended with ${exit.code ?? exit.signal}: ${child.output.join("\n")}`);
  return child.output[0] ?? "";
}
