import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { ProtobufError, Reader, Writer } from "./wire.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) };

function written(text: string): Uint8Array {
  const writer = new Writer();
  writer.varint(writer.string(text));
  return writer.finish();
}

// Lengths around the thresholds of the fast paths, with characters of every UTF-8 length.
const TEXT = fc
  .tuple(fc.nat(300), fc.constantFrom("", "\u007f", "\u0080", "é", "€", "𝄞", "\ufeff"))
  .map(([length, end]) => "a".repeat(length) + end);

test("a string is written as length-prefixed UTF-8 and read back", () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      const bytes = written(text);

      const content = new TextEncoder().encode(text);
      assert.deepEqual(bytes.subarray(content.length < 0x80 ? 1 : 2), content);
      assert.equal(new Reader(bytes).text(), text);
      assert.equal(new Reader(bytes).string(), text);
    }),
    settings,
  );
});

test("invalid UTF-8 is replaced by the lenient reader and rejected by the strict one", () => {
  const bytes = Uint8Array.of(3, 0x61, 0xff, 0x62);

  assert.equal(new Reader(bytes).text(), "a\ufffdb");
  assert.throws(() => new Reader(bytes).string(), ProtobufError);
});

test("an entered message ends where its length says", () => {
  const reader = new Reader(Uint8Array.of(2, 7, 8, 9));

  const outerEnd = reader.enter();
  assert.deepEqual([reader.varint(), reader.varint(), reader.atEnd], [7, 8, true]);
  assert.throws(() => reader.varint(), ProtobufError);
  reader.leave(outerEnd);

  assert.deepEqual([reader.varint(), reader.atEnd], [9, true]);
});

test("a length that reaches beyond the enclosing message is rejected", () => {
  for (const read of [(reader: Reader) => reader.bytes(), (reader: Reader) => reader.text(), (reader: Reader) => reader.enter()]) {
    const reader = new Reader(Uint8Array.of(2, 2, 0x61, 0x62, 0x63));
    reader.enter();

    assert.throws(() => read(reader), { name: "ProtobufError", message: "Cannot decode: 2 bytes announced at byte 2, 1 left" });
  }
});
