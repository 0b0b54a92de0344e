import { test } from "node:test";
import { deepEqual, equal, notEqual } from "node:assert/strict";
import type { PutOperation } from "./store.ts";
import { bytesValue } from "./value.ts";
import { OwnWrites } from "./own-writes.ts";

const KEY = "/pods/a";
const bytes = (text: string) => new TextEncoder().encode(text);
const write = (text: string, memo?: unknown): PutOperation => ({ type: "put", key: KEY, value: bytesValue(bytes(text), memo) });

test("a write is recognised by its revision once it is acknowledged", () => {
  const own = new OwnWrites();
  const memo = { kind: "Pod" };
  own.begin([write("1", memo)])(7);
  equal(own.valueOf(KEY, 7, bytes("1")).memo, memo);
  equal(own.valueOf(KEY, 7, bytes("1")).memo, memo, "every watch gets it");
  equal(own.valueOf(KEY, 8, bytes("1")).memo, undefined, "another revision is a foreign write");
  equal(own.valueOf("/pods/b", 7, bytes("1")).memo, undefined);
});

test("a write in flight is recognised by its bytes, and dropped when it did not happen", () => {
  const own = new OwnWrites();
  const [first, second] = [{ number: 1 }, { number: 2 }];
  const endFirst = own.begin([write("1", first)]);
  const endSecond = own.begin([write("2", second)]);
  equal(own.valueOf(KEY, 7, bytes("1")).memo, first);
  equal(own.valueOf(KEY, 8, bytes("2")).memo, second);
  equal(own.valueOf(KEY, 9, bytes("3")).memo, undefined);

  endFirst(undefined);
  equal(own.valueOf(KEY, 7, bytes("1")).memo, undefined);
  equal(own.valueOf(KEY, 8, bytes("2")).memo, second);
  endSecond(8);
  equal(own.valueOf(KEY, 8, bytes("2")).memo, second);
});

test("a foreign value is copied, so that it does not retain its message", () => {
  const message = bytes("around value around");
  const value = new OwnWrites().valueOf(KEY, 7, message.subarray(7, 12));
  deepEqual(value.bytes(), bytes("value"));
  notEqual(value.bytes().buffer, message.buffer);
});

test("the number and bytes of recorded writes are limited", () => {
  const own = new OwnWrites();
  for (let revision = 1; revision <= 5_000; revision++) own.begin([write("1", { revision })])(revision);
  deepEqual(
    [1, 904, 905, 5_000].map((revision) => own.valueOf(KEY, revision, bytes("1")).memo !== undefined),
    [false, false, true, true],
  );

  const large = new OwnWrites();
  for (let revision = 1; revision <= 20; revision++) {
    large.begin([{ type: "put", key: KEY, value: bytesValue(new Uint8Array(1024 * 1024), { revision }) }])(revision);
  }
  deepEqual(
    [4, 5].map((revision) => large.valueOf(KEY, revision, bytes("1")).memo !== undefined),
    [false, true],
  );
});
