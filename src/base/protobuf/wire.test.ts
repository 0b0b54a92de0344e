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

// Around the lengths at which another way to read or write is quicker, and with characters of every number of bytes.
const TEXT = fc
  .tuple(fc.nat(300), fc.constantFrom("", "\u007f", "\u0080", "é", "€", "𝄞", "\ufeff"))
  .map(([length, end]) => "a".repeat(length) + end);

test("a text is its UTF-8 with its length before it, and is read again", () => {
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

test("what is not UTF-8 is replaced in a text and refused in a string", () => {
  const bytes = Uint8Array.of(3, 0x61, 0xff, 0x62);

  assert.equal(new Reader(bytes).text(), "a\ufffdb");
  assert.throws(() => new Reader(bytes).string(), ProtobufError);
});

test("a message that was entered ends where its length says", () => {
  const reader = new Reader(Uint8Array.of(2, 7, 8, 9));

  const outerEnd = reader.enter();
  assert.deepEqual([reader.varint(), reader.varint(), reader.atEnd], [7, 8, true]);
  assert.throws(() => reader.varint(), ProtobufError);
  reader.leave(outerEnd);

  assert.deepEqual([reader.varint(), reader.atEnd], [9, true]);
});

test("a length within a message that reaches beyond it is refused", () => {
  for (const read of [(reader: Reader) => reader.bytes(), (reader: Reader) => reader.text(), (reader: Reader) => reader.enter()]) {
    const reader = new Reader(Uint8Array.of(2, 2, 0x61, 0x62, 0x63));
    reader.enter();

    assert.throws(() => read(reader), { name: "ProtobufError", message: "Cannot decode: 2 bytes announced at byte 2, 1 left" });
  }
});
