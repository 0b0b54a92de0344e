import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { assert as property, integer, property as forAll } from "fast-check";
import { EXPIRY_PREFIX, expiryRecord, parseExpiryRecord } from "./expiry-record.ts";

const time = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

test("a record's key round-trips", () => {
  property(
    forAll(time, (expiresAtMs) =>
      deepEqual(parseExpiryRecord(expiryRecord({ key: "/events/a/b", expiresAtMs }).key), { key: "/events/a/b", expiresAtMs }),
    ),
  );
});

test("records sort by expiry time", () => {
  property(
    forAll(time, time, (a, b) => {
      const [keyA, keyB] = [expiryRecord({ key: "/z/z/z", expiresAtMs: a }).key, expiryRecord({ key: "/a/a/a", expiresAtMs: b }).key];
      if (a !== b) equal(keyA < keyB, a < b);
    }),
  );
});

for (const key of [
  "/events/a",
  EXPIRY_PREFIX,
  `${EXPIRY_PREFIX}12/events/a`,
  `${EXPIRY_PREFIX}00000000000000x0/events/a`,
  `${EXPIRY_PREFIX}0000000000000000`,
]) {
  test(`${key} is not a record`, () => equal(parseExpiryRecord(key), undefined));
}
