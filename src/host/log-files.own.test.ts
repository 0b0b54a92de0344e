import { deepEqual } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { emptyLogDirectories, removeEmptyLogDirectory } from "./log-files.ts";

test("directories without a file in them are found and removed, others are left as they are", async () => {
  const root = await mkdtemp(join(tmpdir(), "k8ts-logs-"));
  try {
    for (const directory of ["bare", "deep/main", "said/main", "said/silent"]) await mkdir(join(root, directory), { recursive: true });
    await writeFile(join(root, "said/main/0.log"), "");
    await writeFile(join(root, "file"), "");

    deepEqual(await emptyLogDirectories(root, () => true), [join(root, "bare"), join(root, "deep")]);
    deepEqual(await emptyLogDirectories(root, (name) => name === "deep"), [join(root, "deep")]);
    deepEqual(await emptyLogDirectories(join(root, "none"), () => true), []);

    for (const name of ["bare", "deep", "said", "none"]) await removeEmptyLogDirectory(join(root, name));
    deepEqual((await readdir(root)).toSorted(), ["file", "said"]);
    deepEqual(await readdir(join(root, "said/main")), ["0.log"]);
  } finally {
    await rm(root, { recursive: true });
  }
});
