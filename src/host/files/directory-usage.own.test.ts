import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { directoryUsage } from "./directory-usage.ts";

const MANY = { entriesMax: 1_000 };
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "k8ts-usage-"));
  await mkdir(join(directory, "a", "b"), { recursive: true });
  await writeFile(join(directory, "a", "large"), "x".repeat(100_000));
  await link(join(directory, "a", "large"), join(directory, "a", "b", "same"));
  await symlink("/", join(directory, "everything"));
  for (let index = 0; index < 40; index++) await writeFile(join(directory, "a", `${index}`), "x");
});

after(() => rm(directory, { recursive: true }));

test("the usage of a tree is that of du: hard links count once, and symbolic links are not followed", async () => {
  const said = Number(execFileSync("du", ["-s", "-x", "-B1", directory], { encoding: "utf8" }).split("\t")[0]);

  // Three directories, forty small files, a large one and a link.
  deepEqual(await directoryUsage(directory, MANY), { usedBytes: said, inodesUsed: 45 });
});

test("the usage of a single file is returned", async () => {
  equal((await directoryUsage(join(directory, "a", "large"), MANY))?.inodesUsed, 1);
});

test("a directory with too many files, or a missing one, is not counted", async () => {
  equal(await directoryUsage(directory, { entriesMax: 44 }), undefined);
  equal(await directoryUsage(join(directory, "none"), MANY), undefined);
  equal((await directoryUsage(directory, { entriesMax: 45 }))?.inodesUsed, 45);
});
