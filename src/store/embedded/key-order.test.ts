import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { array, assert, constantFrom, property } from "fast-check";
import { KeyOrder, type KeyComparison } from "./key-order.ts";

const KEY_BYTES_MAX = 8;

/** Few different bytes, so that many keys are equal or share a prefix. */
const byte = constantFrom(0, 1, 127, 255);

/** Checks the keys one after the other, each at some offset of its own page, which is dropped afterwards. */
function look(comparison: KeyComparison, keys: readonly Uint8Array[]): boolean[] {
  const order = new KeyOrder(comparison, KEY_BYTES_MAX);
  const page = new Uint8Array(100);
  return keys.map((key, index) => {
    page.fill(7).set(key, index % 50);
    const result = order.isNext(page, index % 50, key.length);
    order.keep();
    return result;
  });
}

/** Expected: the first is in order, each other one if it is greater than its predecessor. */
function expected<T>(keys: readonly T[], compare: (a: T, b: T) => number): boolean[] {
  return keys.map((key, index) => index === 0 || compare(key, keys[index - 1] as T) > 0);
}

test("keys are in order if each is bytewise greater than its predecessor", () =>
  assert(
    property(array(array(byte, { maxLength: KEY_BYTES_MAX }), { maxLength: 20 }), (arrays) => {
      const keys = arrays.map((key) => Uint8Array.from(key));
      deepEqual(look("bytes", keys), expected(keys, Buffer.compare));
    }),
  ));

test("numeric keys are in order if each number is greater than its predecessor", () =>
  assert(
    property(array(array(byte, { minLength: 8, maxLength: 8 }), { maxLength: 20 }), (keys) => {
      const numberOf = (key: readonly number[]) => key.reduceRight((sum, each) => sum * 256n + BigInt(each), 0n);
      const compare = (a: bigint, b: bigint) => (a > b ? 1 : a < b ? -1 : 0);
      deepEqual(
        look(
          "numbers",
          keys.map((key) => Uint8Array.from(key)),
        ),
        expected(keys.map(numberOf), compare),
      );
    }),
  ));

test("the key after a bound may equal it, the bound itself must be greater than its predecessor", () => {
  const order = new KeyOrder("bytes", KEY_BYTES_MAX);
  const key = (letter: string) => [Uint8Array.from([letter.charCodeAt(0)]), 0, 1] as const;
  equal(order.isNext(...key("a")), true);
  equal(order.isNextBound(...key("b")), true);
  equal(order.isNext(...key("b")), true);
  equal(order.isNext(...key("b")), false);
  equal(order.isNextBound(...key("b")), false);
  equal(order.isNext(...key("a")), false);
});
