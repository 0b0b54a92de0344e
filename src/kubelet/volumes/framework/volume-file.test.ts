import assert from "node:assert/strict";
import { test } from "node:test";
import { VolumeError } from "./volume-error.ts";
import { checkedFiles, type VolumeFiles } from "./volume-file.ts";

const FILE = { data: new Uint8Array(), mode: 0o644 };

function filesAt(...paths: readonly string[]): VolumeFiles {
  return new Map(paths.map((path) => [path, FILE]));
}

test("paths that stay inside the volume are cleaned", () => {
  for (const [path, clean] of [
    ["a", "a"],
    ["./a//b", "a/b"],
    ["a/...b/..c", "a/...b/..c"],
    ["__proto__", "__proto__"],
  ] as const) {
    assert.deepEqual([...checkedFiles(filesAt(path)).keys()], [clean]);
  }
});

test("paths that lead elsewhere, or into what is the volume's own, are refused in upstream's words", () => {
  for (const [path, message] of [
    ["", 'invalid path: must not be empty: ""'],
    ["/a", "invalid path: must be relative path: /a"],
    ["a/../b", "invalid path: must not contain '..': a/../b"],
    ["..data/a", "invalid path: must not start with '..': ..data/a"],
    ["é".repeat(128), "invalid path: filenames must be less than or equal to 255 characters"],
    ["a/".repeat(2_049), "invalid path: must be less than or equal to 4096 characters"],
    ["./", "invalid path: must name a file: ./"],
  ] as const) {
    assert.throws(() => checkedFiles(filesAt(path)), { name: "VolumeError", message });
  }
});

test("a path cannot be a file and a directory at once", () => {
  assert.throws(() => checkedFiles(filesAt("a/b", "a")), VolumeError);
  assert.deepEqual([...checkedFiles(filesAt("a/b", "a/c")).keys()], ["a/b", "a/c"]);
});
