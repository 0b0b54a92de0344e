import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { WATCH_LINE_BYTES_MAX, WatchLines } from "./watch-lines.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

test("lines are delivered whole however the stream is chunked, also inside of a character; an unterminated last line is not", () => {
  const texts = fc.array(fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\n") && text.isWellFormed()));
  fc.assert(
    fc.property(texts, fc.string({ maxLength: 3 }), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (lines, rest, sizes) => {
      const bytes = encoder.encode(lines.map((line) => `${line}\n`).join("") + rest.replaceAll("\n", ""));
      const found: string[] = [];
      const reader = new WatchLines();
      for (let at = 0; at < bytes.length;) {
        const size = Number(sizes.next().value);
        reader.push(bytes.subarray(at, at + size), (line) => found.push(decoder.decode(line)) > 0);
        at += size;
      }
      assert.deepEqual(found, lines);
    }),
  );
});

test("nothing is delivered after the reader returned false", () => {
  const found: number[] = [];
  new WatchLines().push(encoder.encode("a\nb\nc\n"), (line) => found.push(line.length) < 2);
  assert.equal(found.length, 2);
});

test("a line that is too long is detected before it ends", () => {
  const lines = new WatchLines();
  const half = new Uint8Array(WATCH_LINE_BYTES_MAX / 2);
  assert.equal(
    lines.push(half, () => true),
    true,
  );
  assert.equal(
    lines.push(half, () => true),
    true,
  );
  assert.equal(
    lines.push(Uint8Array.of(1), () => true),
    false,
  );
});
