import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { emptyLogDirectories, gzipFile, openPackedFile, removeEmptyLogDirectory } from "./log-files.ts";

test("directories without a file are found and removed, others are left unchanged", async () => {
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

async function wholeOf(path: string): Promise<string | undefined> {
  await using file = await openPackedFile(path);
  if (file === undefined) return undefined;
  // Its name may be removed while it is read.
  await rm(path);
  const chunks: Uint8Array[] = [];
  for (let position = 0; ;) {
    const chunk = await file.read(position);
    if (chunk.length === 0) return Buffer.concat(chunks).toString();
    position += chunk.length;
    chunks.push(chunk);
  }
}

test("a compressed log is read as it was, a corrupt one up to the damage, and a missing one is undefined", async () => {
  const root = await mkdtemp(join(tmpdir(), "k8ts-logs-"));
  try {
    const [plain, packed] = [join(root, "0.log"), join(root, "0.log.gz")];
    // More than the read size.
    const text = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`).join("");
    await writeFile(plain, text);

    await gzipFile(plain, packed);
    equal(await wholeOf(packed), text);
    equal(await wholeOf(packed), undefined);

    await gzipFile(plain, packed);
    await truncate(packed, Math.floor((await readFile(packed)).length / 2));
    const half = await wholeOf(packed);
    ok(half !== undefined && half.length < text.length && text.startsWith(half));
  } finally {
    await rm(root, { recursive: true });
  }
});
