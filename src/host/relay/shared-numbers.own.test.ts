import { deepEqual, equal } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../files/private-files.ts";
import { readNumbers, writeNumbers } from "./shared-numbers.ts";

test("shared numbers: a reader sees the last write, and only the owner may", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-numbers-");
  const path = join(directory.path, "page");
  using writer = writeNumbers(path);
  using reader = readNumbers(path);
  deepEqual(reader.read(), [0, 0]);
  writer.write(3, 2 ** 53 - 1);
  deepEqual(reader.read(), [3, 2 ** 53 - 1]);
  equal((await stat(path)).mode & 0o777, 0o600);
});

test("shared numbers: what another process writes meanwhile is never read in parts", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-numbers-");
  const path = join(directory.path, "page");
  writeNumbers(path)[Symbol.dispose]();
  using reader = readNumbers(path);
  const module = join(import.meta.dirname, "shared-numbers.js");
  const program = `import { writeNumbers } from ${JSON.stringify(module)}; const writer = writeNumbers(${JSON.stringify(path)});
    for (let index = 1; index <= 100_000; index++) writer.write(index, 2 * index);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" });
  const exited = once(child, "exit");
  let last = 0;
  const wrong: (readonly [number, number])[] = [];
  for (let isOver = false; !isOver;) {
    const read = reader.read();
    if (read[1] !== 2 * read[0] || read[0] < last) wrong.push(read);
    last = read[0];
    isOver = await Promise.race([exited.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
  }
  deepEqual([wrong, reader.read()], [[], [100_000, 200_000]]);
});
