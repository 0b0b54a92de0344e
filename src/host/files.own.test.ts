import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeFileWhole } from "./files.ts";

async function* pieces(fail: boolean): AsyncGenerator<Uint8Array, string> {
  yield Buffer.from("one ");
  if (fail) throw new Error("half way");
  yield Buffer.from("two");
  return "the result";
}

test("a file is replaced whole, private, with what its maker returned; a failure leaves the old one and nothing else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-files-"));
  const path = join(directory, "file");
  await writeFile(path, "old");

  await rejects(writeFileWhole(path, pieces(true)), /half way/);
  deepEqual([await readFile(path, "utf8"), await readdir(directory)], ["old", ["file"]]);

  equal(await writeFileWhole(path, pieces(false)), "the result");
  deepEqual([await readFile(path, "utf8"), await readdir(directory)], ["one two", ["file"]]);
  equal((await stat(path)).mode & 0o777, 0o600);
  await rm(directory, { recursive: true });
});
