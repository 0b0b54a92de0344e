import { deepEqual, equal } from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { unpackedSha256 } from "./gunzip.ts";

const WHOLE = Buffer.from("some text that repeats itself, ".repeat(20_000));
const PACKED = gzipSync(WHOLE);

async function hashOf(packed: Uint8Array): Promise<Uint8Array | undefined> {
  const hash = unpackedSha256();
  for (let offset = 0; offset < packed.length; offset += 1_000) await hash.update(packed.subarray(offset, offset + 1_000));
  return hash.digest();
}

test("the hash of gzipped bytes is that of their content", async () => {
  deepEqual(await hashOf(PACKED), createHash("sha256").update(WHOLE).digest());
});

for (const { it, packed } of [
  { it: "are cut off", packed: PACKED.subarray(0, PACKED.length - 20) },
  { it: "were changed", packed: PACKED.map((byte, index) => (index > 100 && index < 110 ? 0xff : byte)) },
  { it: "are not packed", packed: WHOLE },
]) {
  test(`bytes that ${it} have no hash`, async () => equal(await hashOf(packed), undefined));
}
