import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { array, assert as property, asyncProperty, nat, uint8Array } from "fast-check";
import { ByteReader } from "./byte-reader.ts";

async function* from(...pieces: (readonly number[])[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Uint8Array.from(piece);
}

test("ByteReader returns the bytes in order however they are chunked, and undefined at the end", async () => {
  await property(
    asyncProperty(array(uint8Array({ maxLength: 5 })), array(nat(7)), async (pieces, lengths) => {
      const whole = pieces.flatMap((piece) => [...piece]);
      const reader = new ByteReader(from(...pieces.map((piece) => [...piece])));
      let offset = 0;
      for (const length of lengths) {
        const read = await reader.read(length);
        if (offset + length > whole.length) return equal(read, undefined);
        deepEqual([...(read ?? [])], whole.slice(offset, offset + length));
        offset += length;
      }
      return undefined;
    }),
  );
});

test("a line ends at its line feed; a line that is too long or unterminated is undefined", async () => {
  const text = [...new TextEncoder().encode("ab\ncdef\ng")];
  const reader = new ByteReader(from(text.slice(0, 4), text.slice(4)));
  equal(await reader.readLine(10), "ab");
  equal(await new ByteReader(from(text)).readLine(2), undefined);
  equal(await reader.readLine(10), "cdef");
  equal(await reader.readLine(10), undefined);
});
