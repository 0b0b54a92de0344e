import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { assert as property, boolean, integer, nat, property as forAll, string, uint8Array } from "fast-check";
import {
  decodeHead,
  decodeNumber,
  decodeRecord,
  decodeValue,
  encodeHead,
  encodeNumber,
  encodeRecord,
  positionOf,
  revisionOf,
} from "./records.ts";

const position = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

test("positions, heads, records and values are read as written", () => {
  property(
    forAll(
      position,
      position,
      boolean(),
      string({ unit: "grapheme", maxLength: 300 }),
      uint8Array(),
      (at, previous, deleted, key, value) => {
        equal(decodeNumber(encodeNumber(at)), at);
        deepEqual(decodeHead(encodeHead({ position: at, deleted })), { position: at, deleted });
        const record = { key, deleted, previous, keys: previous % 1_000 };
        const bytes = encodeRecord(at, record, value);
        deepEqual(decodeRecord(bytes), record);
        deepEqual([...decodeValue(bytes, at, key)], [...value]);
      },
    ),
  );
});

test("encoded positions sort like positions", () => {
  property(forAll(position, position, (a, b) => equal(Math.sign(Buffer.compare(encodeNumber(a), encodeNumber(b))), Math.sign(a - b))));
});

test("the revision of a position does not depend on its operation", () => {
  property(
    forAll(integer({ min: 1, max: 2 ** 45 }), nat(127), (revision, operation) =>
      equal(revisionOf(positionOf(revision, operation)), revision),
    ),
  );
});

test("a record with any flipped bit, or truncated anywhere, is rejected", () => {
  const record = encodeRecord(128, { key: "/pods/a", deleted: false, previous: 4_711, keys: 3 }, Buffer.from("the value"));
  for (let bit = 0; bit < record.length * 8; bit++) {
    const changed = Buffer.from(record);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    throws(() => decodeValue(changed, 128, "/pods/a"), { reason: "Damaged" });
  }
  for (let length = 0; length < record.length; length++)
    throws(() => decodeValue(record.subarray(0, length), 128, "/pods/a"), { reason: "Damaged" });
});

test("a record of another key is rejected", () => {
  const record = encodeRecord(128, { key: "/pods/a", deleted: false, previous: 0, keys: 1 }, Buffer.from("the value"));
  throws(() => decodeValue(record, 128, "/pods/b"), { reason: "Damaged", message: /the value of \/pods\/b at revision 1 / });
});

test("a record under the position of another one is rejected", () => {
  const record = encodeRecord(128, { key: "/pods/a", deleted: false, previous: 0, keys: 1 }, Buffer.from("the value"));
  for (const position of [127, 129, 256, 128 + 2 ** 32, 128 * 2 ** 32]) {
    throws(() => decodeValue(record, position, "/pods/a"), { reason: "Damaged" });
  }
});

test("an index entry of another length or kind is rejected", () => {
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(8), Buffer.alloc(9), Buffer.alloc(10, 1)]) {
    throws(() => decodeHead(bytes), { reason: "Damaged" });
  }
});
