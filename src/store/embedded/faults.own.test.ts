/** Faults of a store's files and their effect: a named error, reads where possible, nothing silently lost. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, open, readFile, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { needs, toolPath } from "../../testing/needs.ts";
import type { Store } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { bytesValue } from "../value.ts";
import { PODS, Seen, committed, del, put, show } from "../testing/harness.ts";
import { inDirectory, openIn } from "./testing/temporary.ts";

const run = promisify(execFile);

/** A file system of its own, of `size`, for the test. */
async function onTmpfs(
  size: string,
  body: (directory: string, remount: (options: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  await inDirectory(async (directory) => {
    const mount = toolPath("tmpfs");
    await run(mount, ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", directory]);
    try {
      await body(directory, (options) => run(mount, ["-o", `remount,${options}`, directory]));
    } finally {
      await run("umount", ["--lazy", directory]); // Also when a failed test left the store open.
    }
  });
}

const FILLING = bytesValue(new Uint8Array(50_000).fill(1));

/** Commits until rejected. Returns the acknowledged keys and the reason of the end. */
async function fill(store: Store): Promise<{ readonly keys: string[]; readonly error: unknown }> {
  const keys: string[] = [];
  for (let index = 0; ; index++) {
    try {
      await committed(store, { type: "put", key: `${PODS}p${index}`, value: FILLING });
      keys.push(`${PODS}p${index}`);
    } catch (error) {
      return { keys, error };
    }
  }
}

test("a full disk rejects writes as Full, reads still work, and writes do again once there is space", { ...needs("tmpfs") }, () =>
  onTmpfs("8m", async (directory, remount) => {
    const store = await openIn(directory);
    const seen = new Seen(store, PODS, await store.currentRevision());
    const { keys, error } = await fill(store);

    ok(isStoreError(error, "Full"), `it must be reported as Full, is ${String(error)}`);
    ok(keys.length > 20, "most of the space must have been used");
    deepEqual((await store.list(PODS)).entries.map(({ key }) => key).sort(), [...keys].sort());
    equal(await store.currentRevision(), 1 + keys.length, "what was refused took no revision");
    equal(seen.changes.length, keys.length, "no watcher saw what was refused");

    await remount("size=32m");
    const revision = await committed(store, put(`${PODS}after`, "1"));
    equal(revision, 2 + keys.length);
    await store.close();
    const again = await openIn(directory);
    equal((await again.list(PODS)).entries.length, keys.length + 1);
    await again.close();
  }),
);

test("commits queued behind one that does not fit are rejected with it, and later ones are checked again", { ...needs("tmpfs") }, () =>
  onTmpfs("8m", async (directory, remount) => {
    const store = await openIn(directory);
    const { keys } = await fill(store);
    const large = bytesValue(new Uint8Array(1_400_000));

    const together = await Promise.allSettled([
      store.commit([{ type: "put", key: `${PODS}large`, value: large, precondition: { is: "absent" } }]),
      store.commit([put(`${PODS}large`, "again", { is: "absent" })]),
      store.commit([put(`${PODS}other`, "1")]),
    ]);

    deepEqual(
      together.map((each) => each.status === "rejected" && isStoreError(each.reason, "Full")),
      [true, true, true],
    );
    await remount("size=32m");
    await committed(store, put(`${PODS}large`, "now", { is: "absent" }));
    equal((await store.statistics()).keys, keys.length + 1);
    await store.close();
  }),
);

test("deleting and compacting frees space on a full disk", { ...needs("tmpfs") }, () =>
  onTmpfs("16m", async (directory) => {
    const store = await openIn(directory);
    const { keys } = await fill(store);
    for (const key of keys.slice(0, 100)) await committed(store, del(key));
    await store.compact(await store.currentRevision());

    for (let index = 0; index < 50; index++) await committed(store, { type: "put", key: `${PODS}new${index}`, value: FILLING });
    equal((await store.list(PODS)).entries.length, keys.length - 50);
    await store.close();
    const again = await openIn(directory);
    equal((await again.list(PODS)).entries.length, keys.length - 50);
    await again.close();
  }),
);

test("a disk that others fill to the last byte rejects everything while it is full, before lmdb meets it", { ...needs("tmpfs") }, () =>
  onTmpfs("64m", async (directory) => {
    const store = await openIn(join(directory, "data"));
    const { keys } = await fill(store);
    for (const key of keys.slice(0, 100)) await committed(store, del(key));
    const others = await open(join(directory, "others"), "w");
    await rejects(others.writeFile(new Uint8Array(64 * 1_048_576)), { code: "ENOSPC" });
    await others.close();

    for (let round = 0; round < 300; round++) {
      const refused = await Promise.allSettled([
        store.commit([put(`${PODS}small`, "1")]),
        store.commit([{ type: "put", key: `${PODS}large`, value: FILLING }]),
        store.commit([del(keys.at(-1) as string)]),
      ]);
      for (const each of refused) {
        ok(each.status === "rejected" && isStoreError(each.reason, "Full"), "it must be reported as Full");
        equal(each.reason.cause, undefined, "it must not have come as far as the disk");
      }
    }
    await rejects(store.compact(await store.currentRevision()), { reason: "Full" });
    equal((await store.list(PODS)).entries.length, keys.length - 100);

    await rm(join(directory, "others"));
    await committed(store, del(keys.at(-1) as string));
    await store.close();
  }),
);

for (const { it, path, prepare } of [
  { it: "a file", path: "file", prepare: (directory: string) => writeFile(join(directory, "file"), "") },
  { it: "below a file", path: "file/data", prepare: (directory: string) => writeFile(join(directory, "file"), "") },
  {
    it: "a directory whose data file is a directory",
    path: "data",
    prepare: (directory: string) => mkdir(join(directory, "data", "store.mdb"), { recursive: true }),
  },
]) {
  test(`a data directory that is ${it} is rejected as Unusable, with its name`, () =>
    inDirectory(async (directory) => {
      await prepare(directory);
      await rejects(openIn(join(directory, path)), { reason: "Unusable", message: new RegExp(`Cannot open ${join(directory, path)}: `) });
    }));
}

/** An unused uid. */
const MALLORY = 61_234;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can give files to another user" };

test("a data directory that is writable by other users is rejected as Unusable, and nothing is written there", () =>
  inDirectory(async (directory) => {
    await chmod(directory, 0o777);
    await rejects(openIn(directory), {
      reason: "Unusable",
      message:
        /^Cannot open (\S+): it is writable by other users \(mode 0777\); remove that permission: chmod g?o-w \1, or choose another data directory$/,
    });
    deepEqual(await readdir(directory), []);
    await chmod(directory, 0o755);
    await (await openIn(directory)).close();
  }));

test("a data directory, or data file, of another user is rejected as Unusable", asRoot, () =>
  inDirectory(async (directory) => {
    await (await openIn(directory)).close();
    await chown(join(directory, "store.mdb"), MALLORY, MALLORY);
    await rejects(openIn(directory), { reason: "Unusable", message: /store\.mdb is owned by user 61234; / });
    await chown(join(directory, "store.mdb"), 0, 0);
    await chown(directory, MALLORY, MALLORY);
    await rejects(openIn(directory), { reason: "Unusable", message: /it is owned by user 61234; .* or choose another data directory/ });
    await chown(directory, 0, 0);
    await (await openIn(directory)).close();
  }),
);

test("a read-only directory is rejected as Unusable", { ...needs("tmpfs") }, () =>
  onTmpfs("8m", async (directory, remount) => {
    await (await openIn(join(directory, "data"))).close();
    await remount("ro");
    await rejects(openIn(join(directory, "data")), { reason: "Unusable", message: /choose a data directory that this user can write to/ });
    await rejects(openIn(join(directory, "new")), { reason: "Unusable" });
    await remount("rw");
    await (await openIn(join(directory, "data"))).close();
  }),
);

/** A closed store with a hundred keys, the data file, and a marker by which one value can be found in it. */
async function withData(body: (directory: string, file: string) => Promise<void>): Promise<void> {
  await inDirectory(async (directory) => {
    const store = await openIn(directory);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => committed(store, put(`${PODS}p${index}`, `value-${index}-${"x".repeat(500)}-end`))),
    );
    await store.close();
    await body(directory, join(directory, "store.mdb"));
  });
}

for (const { it, damage } of [
  { it: "that is not a data file", damage: (file: string) => writeFile(file, "This is not a data file, it is a letter. ".repeat(500)) },
  { it: "whose first page is zeroed", damage: (file: string) => overwrite(file, 0, Buffer.alloc(4_096)) },
  { it: "whose second header is zeroed", damage: (file: string) => overwrite(file, 4_096, Buffer.alloc(4_096)) },
  { it: "that was cut to one page", damage: (file: string) => truncate(file, 4_096) },
  { it: "that was cut to its headers", damage: (file: string) => truncate(file, 8_192) },
  { it: "that was cut in the middle", damage: async (file: string) => truncate(file, (await readFile(file)).length / 2) },
]) {
  test(`a data file ${it} is rejected as Damaged, and left unchanged`, () =>
    withData(async (directory, file) => {
      await damage(file);
      const before = (await readFile(file)).subarray(0, 100_000);
      await rejects(openIn(directory), { reason: "Damaged", message: /restore a snapshot/ });
      await rejects(openIn(directory), { reason: "Damaged" });
      const after = (await readFile(file)).subarray(0, before.length);
      ok(before.equals(after), "the remaining data may still be useful");
    }));
}

test("a value that differs from what was written is rejected as Damaged, by name; all others are readable", () =>
  withData(async (directory, file) => {
    const content = await readFile(file);
    const mark = Buffer.from("value-42-");
    for (let found = content.indexOf(mark); found >= 0; found = content.indexOf(mark, found + 1))
      await overwrite(file, found + 20, Buffer.from("y"));

    const store = await openIn(directory);
    await rejects(store.get(`${PODS}p42`), { reason: "Damaged", message: /the value of \/pods\/p42 at revision/ });
    await rejects(store.list(PODS), { reason: "Damaged" });
    for (let index = 0; index < 100; index++) if (index !== 42) ok(show(await store.get(`${PODS}p${index}`))?.includes("-end"));
    await committed(store, put(`${PODS}p42`, "written again"));
    equal((await store.list(PODS)).entries.length, 100);
    await store.close();
  }));

async function overwrite(path: string, offset: number, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "r+");
  await file.write(bytes, 0, bytes.length, offset);
  await file.close();
}
