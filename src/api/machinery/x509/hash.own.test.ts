import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { HASHES, type HashName } from "./hash.ts";

for (const name of Object.keys(HASHES) as HashName[]) {
  test(`${name} is what the machine makes of it, for every length around two blocks`, () => {
    for (let length = 0; length <= 260; length++) {
      const input = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 0xff);

      assert.deepEqual(HASHES[name](input), new Uint8Array(createHash(name.replace("-", "")).update(input).digest()), `of ${length} bytes`);
    }
  });
}
