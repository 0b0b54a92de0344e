import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { writeTar, type TarEntry } from "./tar-writer.ts";
import { readTarball } from "./tarball.ts";

function tarballOf(files: Readonly<Record<string, string>>, change: (tar: Uint8Array) => Uint8Array = (tar) => tar): Uint8Array {
  const entries = Object.entries(files).map(([path, text]): TarEntry => ({ is: "file", path, content: Buffer.from(text) }));
  return gzipSync(change(writeTar(entries)));
}

test("a file is extracted from a tarball, whatever precedes it", async () => {
  const files = { "package/package.json": "{}", "package/empty": "", "package/long": "x".repeat(1_300), "package/last": "the last" };
  for (const [name, text] of Object.entries(files)) deepEqual(Buffer.from(await readTarball(tarballOf(files), name)).toString(), text);
});

for (const { it, packed, path, error } of [
  { it: "a missing file", packed: tarballOf({ a: "1" }), path: "b", error: /Cannot find "b" in the tarball/ },
  {
    it: "a damaged header",
    packed: tarballOf({ a: "1" }, (tar) => tar.fill(0x39, 124, 135)),
    path: "a",
    error: /the sum of a header is wrong/,
  },
  {
    it: "an early end",
    packed: tarballOf({ a: "x".repeat(600) }, (tar) => tar.subarray(0, 700)),
    path: "a",
    error: /ends in the middle of a file/,
  },
  { it: "no gzip", packed: Buffer.from("not gzip"), path: "a", error: /incorrect header check/ },
]) {
  test(`readTarball reports the problem: ${it}`, () => rejects(readTarball(packed, path), error));
}
