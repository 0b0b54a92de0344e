import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readTarball } from "./tarball.ts";

function tarballOf(files: Readonly<Record<string, string>>, change: (tar: Buffer) => Buffer = (tar) => tar): Uint8Array {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
    const content = Buffer.alloc(Math.ceil(text.length / 512) * 512);
    content.write(text);
    return [header, content];
  });
  return gzipSync(change(Buffer.concat([...blocks, Buffer.alloc(1024)])));
}

test("a file comes out of a tarball, whatever stands before it", () => {
  const files = { "package/package.json": "{}", "package/empty": "", "package/long": "x".repeat(1_300), "package/last": "the last" };
  for (const [name, text] of Object.entries(files)) deepEqual(Buffer.from(readTarball(tarballOf(files), name)).toString(), text);
});

test("what is not there, or damaged, is named", () => {
  throws(() => readTarball(tarballOf({ a: "1" }), "b"), /Cannot find "b" in the tarball/);
  throws(
    () =>
      readTarball(
        tarballOf({ a: "1" }, (tar) => tar.fill("9", 124, 135)),
        "a",
      ),
    /the size of "a" is corrupt/,
  );
  throws(
    () =>
      readTarball(
        tarballOf({ a: "x".repeat(600) }, (tar) => tar.subarray(0, 700)),
        "a",
      ),
    /the size of "a" is corrupt/,
  );
  throws(() => readTarball(Buffer.from("not gzip"), "a"), /incorrect header check/);
});
