import assert from "node:assert/strict";
import { lstat, mkdir, readdir, readFile, readlink, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { writeAtomically, type AtomicFile } from "./atomic-directory.ts";
import { makeTemporaryDirectory } from "./private-files.ts";

const NOW = { nowMs: Date.UTC(2026, 0, 31, 10, 20, 30) };

function filesOf(texts: Readonly<Record<string, string>>, mode = 0o644): ReadonlyMap<string, AtomicFile> {
  return new Map(Object.entries(texts).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));
}

test("files are linked through ..data, with their exact modes regardless of the umask", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-atomic-");
  const { path } = directory;
  const mask = process.umask(0o077);
  try {
    assert.equal(await writeAtomically(path, new Map([...filesOf({ a: "1", "b/c": "2" }), ...filesOf({ d: "3" }, 0o400)]), NOW), true);
  } finally {
    process.umask(mask);
  }
  const stamped = await readlink(join(path, "..data"));
  assert.match(stamped, /^\.\.2026_01_31_10_20_30\./);
  assert.deepEqual((await readdir(path)).toSorted(), ["..data", stamped, "a", "b", "d"].toSorted());
  assert.deepEqual([await readlink(join(path, "a")), await readlink(join(path, "b"))], ["..data/a", "..data/b"]);
  assert.equal(await readFile(join(path, "b/c"), "utf8"), "2");
  const modes = await Promise.all(
    ["a", "b", "b/c", "d", stamped].map(async (name) => ((await stat(join(path, name))).mode & 0o7777).toString(8)),
  );
  assert.deepEqual(modes, ["644", "755", "644", "400", "755"]);
});

test("an unchanged directory is not rewritten; removed files disappear", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-atomic-");
  const { path } = directory;
  await writeAtomically(path, filesOf({ a: "1", "b/c": "2" }), NOW);
  const first = await readlink(join(path, "..data"));
  assert.equal(await writeAtomically(path, filesOf({ a: "1", "b/c": "2" }), NOW), false);
  assert.equal(await readlink(join(path, "..data")), first);

  assert.equal(await writeAtomically(path, filesOf({ a: "1" }), NOW), true);
  const second = await readlink(join(path, "..data"));
  assert.deepEqual((await readdir(path)).toSorted(), ["..data", second, "a"].toSorted());
  assert.equal(await writeAtomically(path, filesOf({}), NOW), true);
  assert.equal((await readdir(path)).length, 2);
});

test("leftovers of a killed update are removed, and existing directories stay", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-atomic-");
  const { path } = directory;
  await mkdir(join(path, "nested"));
  await mkdir(join(path, "..2020_01_01_00_00_00.abc"));
  await symlink("..2020_01_01_00_00_00.abc", join(path, "..data_tmp"));

  await writeAtomically(path, filesOf({ a: "1", "nested/x": "hidden" }), NOW);

  const stamped = await readlink(join(path, "..data"));
  assert.deepEqual((await readdir(path)).toSorted(), ["..data", stamped, "a", "nested"].toSorted());
  assert.equal((await lstat(join(path, "nested"))).isDirectory(), true);
});

test("no file is visible before its owner is set", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-atomic-");
  const { path } = directory;
  await writeAtomically(path, filesOf({ a: "1" }), NOW);
  const refused = writeAtomically(path, filesOf({ a: "2" }), { ...NOW, beforeShown: () => Promise.reject(new Error("no")) });
  await assert.rejects(refused, { message: "no" });
  assert.equal(await readFile(join(path, "a"), "utf8"), "1");
  await writeAtomically(path, filesOf({ a: "3" }), NOW);
  assert.equal((await readdir(path)).length, 3);
});

test("a reader sees all files of one version, never a mixture", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-atomic-");
  const { path } = directory;
  const version = (number: number) => filesOf(Object.fromEntries(["a", "b", "c"].map((name) => [name, String(number)])));
  await writeAtomically(path, version(0), NOW);
  let isOver = false;
  const seen = new Set<string>();
  const read = async (): Promise<void> => {
    while (!isOver) {
      // Resolves ..data once, as programs do that need several files of one version.
      const real = join(path, await readlink(join(path, "..data")));
      const texts = await Promise.all(["a", "b", "c"].map((name) => readFile(join(real, name), "utf8"))).catch(() => undefined);
      if (texts !== undefined) seen.add(texts.join());
    }
  };
  const reading = read();
  for (let number = 1; number <= 200; number++) await writeAtomically(path, version(number), NOW);
  isOver = true;
  await reading;

  assert.ok(seen.size > 1, `several versions were seen, not ${seen.size}`);
  for (const texts of seen) assert.equal(new Set(texts.split(",")).size, 1, `one version, not ${texts}`);
});
