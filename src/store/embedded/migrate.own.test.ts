/** A data directory of format 1 opens with its whole content, or fails with a reason and is left unchanged. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Disk } from "./disk.ts";
import { LegacyDisk } from "./legacy-format.ts";
import { isLegacyFile } from "./legacy-layout.ts";
import { migrate } from "./migrate.ts";
import { legacyKeyToCurrent } from "../legacy-keys.ts";
import { PODS, Seen, committed, put, show, textOf } from "../testing/harness.ts";
import { LEGACY_LIFE, writeLegacyStore, type LegacyLife } from "./testing/legacy-store.ts";
import { inDirectory, openIn } from "./testing/temporary.ts";

const openDisk = (path: string) => new Disk(path);

/** Content of a store after a sequence of writes: keys with their last values. */
function lastValues({ writes }: LegacyLife): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, value } of writes) {
    const current = legacyKeyToCurrent(key);
    if (value === undefined) values.delete(current);
    else values.set(current, value);
  }
  return values;
}

test("a directory of format 1 opens with its keys, values, revisions, old lists and watches, and is written in format 2 from then on", () =>
  inDirectory(async (directory) => {
    const file = join(directory, "store.mdb");
    await writeLegacyStore(directory, LEGACY_LIFE);
    equal(await isLegacyFile(file), true);

    const store = await openIn(directory);
    const expected = lastValues(LEGACY_LIFE);
    const { entries, revision } = await store.list("");
    deepEqual(new Map(entries.map(({ key, value }) => [key, textOf(value)])), expected);
    equal((await store.statistics()).keys, expected.size);
    equal(show(await store.get(`${PODS}default/p0`, { revision: 2 })), `${PODS}default/p0=0-@2`);
    const seen = new Seen(store, PODS, 1);
    equal(await committed(store, put(`${PODS}default/new`, "1")), revision + 1);
    await seen.untilRevision(revision + 1);
    equal(seen.changes.length, revision);
    await store.close();

    equal(await isLegacyFile(file), false);
    deepEqual((await readdir(directory)).sort(), ["store.mdb", "store.mdb-lock"]);
    const again = await openIn(directory);
    equal(await again.currentRevision(), revision + 1);
    equal((await again.statistics()).keys, expected.size + 1);
    await again.close();
  }));

test("migration gives every record the key of the current format", () =>
  inDirectory(async (directory) => {
    const file = join(directory, "store.mdb");
    await writeLegacyStore(directory, LEGACY_LIFE);
    await migrate({ file, open: openDisk, currentKey: (key) => key.replace("/core/pods/", "/pods/of/") });
    const store = await openIn(directory);
    equal((await store.list("/core/")).entries.length, 0);
    deepEqual(
      new Set((await store.list("/pods/of/")).entries.map(({ key }) => key.replace("/pods/of/", "/pods/"))),
      new Set(lastValues(LEGACY_LIFE).keys()),
    );
    await store.close();
  }));

test("a store of format 1 that was never written to, and one that was half restored, open empty", async () => {
  for (const life of [{ writes: [] }, { ...LEGACY_LIFE, restoring: true }]) {
    await inDirectory(async (directory) => {
      await writeLegacyStore(directory, life);
      const store = await openIn(directory);
      deepEqual([await store.currentRevision(), (await store.list("")).entries.length, (await store.statistics()).keys], [1, 0, 0]);
      await store.close();
    });
  }
});

for (const { it, life, spoil, reason, says } of [
  { it: "of an unknown format", life: { ...LEGACY_LIFE, format: 7 }, reason: "Unsupported", says: /its format is 7/ },
  {
    it: "with a damaged value",
    life: LEGACY_LIFE,
    spoil: async (file: string) => {
      const bytes = await readFile(file);
      for (let at = bytes.indexOf("599-xx"); at >= 0; at = bytes.indexOf("599-xx", at + 1)) bytes[at + 5] = 0x79;
      await writeFile(file, bytes);
    },
    reason: "Damaged",
    says: /Cannot migrate .*store\.mdb from format 1 to 2, the file is unchanged: .*the record of revision \d+ is not what was written/,
  },
]) {
  test(`a store of format 1 ${it} is rejected with the reason, and its file is left unchanged`, () =>
    inDirectory(async (directory) => {
      const file = join(directory, "store.mdb");
      await writeLegacyStore(directory, life);
      await spoil?.(file);
      const before = await readFile(file);
      for (let time = 0; time < 2; time++) await rejects(openIn(directory), { reason, message: says });
      ok(before.equals(await readFile(file)), "the file must be unchanged");
      deepEqual(
        (await readdir(directory)).filter((name) => name.includes("migrating")),
        [],
      );
    }));
}

test("a process killed at any point of a migration leaves the old file or the new one, each complete", () =>
  inDirectory(async (directory) => {
    const original = join(directory, "original");
    await mkdir(original);
    await writeLegacyStore(original, LEGACY_LIFE);
    await chmod(original, 0o700);
    const expected = lastValues(LEGACY_LIFE);
    // The child reports each step before it takes it; it is killed at every one of them.
    let steps = 0;
    for (let step = 0, killed = true; killed; step++, steps = step) {
      const copy = join(directory, `copy-${step}`);
      await cp(original, copy, { recursive: true });
      killed = await migrateAndKill(copy, step);
      const store = await openIn(copy);
      deepEqual(new Map((await store.list("")).entries.map(({ key, value }) => [key, textOf(value)])), expected, `killed at step ${step}`);
      await store.close();
      deepEqual((await readdir(copy)).sort(), ["store.mdb", "store.mdb-lock"]);
    }
    ok(steps > 3, `there must be some steps to be killed at, were ${steps}`);
  }));

/** Returns whether the child reached the step. */
async function migrateAndKill(directory: string, step: number): Promise<boolean> {
  const program = join(import.meta.dirname, "testing", "migrate-child.js");
  const child = spawn(process.execPath, [program, directory, String(step)], { stdio: ["ignore", "ignore", "inherit"] });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  ok(signal === "SIGKILL" || code === 0, `the child ended with ${code ?? signal}`);
  return signal === "SIGKILL";
}

test("the reader of format 1 does not change the file", () =>
  inDirectory(async (directory) => {
    const file = join(directory, "store.mdb");
    await writeLegacyStore(directory, LEGACY_LIFE);
    const before = await readFile(file);
    const disk = new LegacyDisk(file);
    ok(disk.records(0, 1_000_000).length > 10);
    await disk.close();
    ok(before.equals(await readFile(file)));
  }));
