import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../../testing/rounds.ts";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isZero,
  milliQuantityOf,
  multiplyQuantity,
  negateQuantity,
  parseQuantity,
  QuantityError,
  quantityMilliValue,
  quantityOf,
  quantityToNumber,
  scaledValue,
  signOf,
  subtractQuantities,
} from "./quantity.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };
const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

// Every row was compared with upstream 1.36.
const CANONICAL: readonly (readonly [text: string, canonical: string])[] = [
  ["0", "0"],
  ["0Ki", "0"],
  ["-0", "0"],
  ["-", "0"],
  ["Ki", "0"],
  ["0.5", "500m"],
  [".5", "500m"],
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["1.5", "1500m"],
  ["1000k", "1M"],
  ["1500000", "1500k"],
  ["12E", "12E"],
  ["-1", "-1"],
  ["100m", "100m"],
  // A spelling that looks canonical is kept.
  ["+1", "+1"],
  ["1.", "1."],
  ["01", "01"],
  ["1.500", "1.500"],
  ["1e3", "1e3"],
  ["1E3", "1E3"],
  ["100e-3", "100e-3"],
  ["012345678901Ki", "012345678901Ki"],
  ["0123456789012Ki", "123456789012Ki"],
  ["1.5e3", "1500"],
  ["1000000e-3", "1e3"],
  ["1e99", "1e99"],
  ["1e100", "10e99"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["1000Ki", "1000Ki"],
  ["1023Ki", "1023Ki"],
  ["-1.5Gi", "-1536Mi"],
  // Small and fractional amounts do not fit binary suffixes.
  ["0.1Ki", "102400m"],
  ["0.5Ki", "512"],
  ["1.0001Ki", "1024102400u"],
  ["1Ei", "1Ei"],
  ["0.5Ei", "512Pi"],
  // Binary amounts are limited to an int64.
  ["8Ei", "9223372036854775807"],
  ["16Ei", "9223372036854775807"],
  ["9223372036854775807", "9223372036854775807"],
  ["9223372036854775808", "9223372036854775808"],
  ["12345678901234567890123", "12345678901234567890123"],
  // Amounts are rounded up to nano; a positive amount never becomes zero.
  ["1n", "1n"],
  ["0.5n", "1n"],
  ["-0.5n", "-1n"],
  ["1.1n", "2n"],
  ["1e-20", "1e-9"],
  ["1e-99999999999", "1e-9"],
  ["1.0000000001", "1000000001n"],
];

test("a quantity is formatted in canonical form", () => {
  deepEqual(
    CANONICAL.map(([text]) => [text, canonicalQuantity(text)]),
    CANONICAL,
  );
});

test("an amount beyond the largest suffix keeps its value", () => {
  equal(canonicalQuantity("1000E"), "1000E");
  equal(canonicalQuantity("100000000000000000000000"), "100000E");
});

test("white space around a quantity is accepted only when decoding JSON", () => {
  equal(canonicalQuantity(" 1Gi\n"), "1Gi");
  throws(() => parseQuantity("1 "), new QuantityError(WRONG_FORMAT));
});

test("malformed quantities are rejected with upstream's messages", () => {
  const suffix = "unable to parse quantity's suffix";
  const number = "unable to parse numeric part of quantity";
  const rows: readonly (readonly [string, string])[] = [
    ["", WRONG_FORMAT],
    ["abc", WRONG_FORMAT],
    ["1.2.3", WRONG_FORMAT],
    ["0x1", WRONG_FORMAT],
    ["1_0", WRONG_FORMAT],
    ["½", WRONG_FORMAT],
    ["1e", suffix],
    ["1i", suffix],
    ["1K", suffix],
    ["1Mi5", suffix],
    ["1ee3", suffix],
    ["1+5", suffix],
    ["1e99999", suffix],
    ["Ei", number],
    ["1".repeat(1_001), number],
  ];
  for (const [text, message] of rows) throws(() => parseQuantity(text), new QuantityError(message), JSON.stringify(text));
});

test("scaled values are rounded away from zero", () => {
  const rows = ["1500m", "-1500m", "1n", "2Ki", "0", "1e3"].map(parseQuantity);
  deepEqual(rows.map(quantityToNumber), [2, -2, 1, 2048, 0, 1000]);
  deepEqual(rows.map(quantityMilliValue), [1500, -1500, 1, 2_048_000, 0, 1_000_000]);
  deepEqual(
    rows.map((quantity) => scaledValue(quantity, 3)),
    [1n, -1n, 1n, 3n, 0n, 1n],
  );
});

test("a sum has the format of its first operand, unless that is zero", () => {
  const sum = (a: string, b: string) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
  equal(sum("1Gi", "1G"), "2073741824");
  equal(sum("1Gi", "1024Mi"), "2Gi");
  equal(sum("0", "1Gi"), "1Gi");
  equal(sum("100m", "0.9"), "1");
  equal(sum("1e3", "1k"), "2e3");
});

test("quantities are built from numbers, negated and multiplied", () => {
  equal(formatQuantity(quantityOf(2 ** 20, "BinarySI")), "1Mi");
  equal(formatQuantity(milliQuantityOf(250)), "250m");
  equal(formatQuantity(multiplyQuantity(parseQuantity("250m"), 4)), "1");
  equal(formatQuantity(negateQuantity(parseQuantity("1Gi"))), "-1Gi");
  deepEqual(
    ["1", "0", "-1"].map((text) => signOf(parseQuantity(text))),
    [1, 0, -1],
  );
  deepEqual(
    ["0", "0.0", "1n"].map((text) => isZero(parseQuantity(text))),
    [true, true, false],
  );
});

const anyText = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.option(fc.nat({ max: 10 ** 9 }), { nil: undefined }),
    fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-4", "E20"),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${suffix}`);
const anyQuantity = anyText.map(parseQuantity);

test("canonicalization keeps the amount and is idempotent", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const canonical = canonicalQuantity(text);
      equal(compareQuantities(parseQuantity(text), parseQuantity(canonical)), 0);
      equal(canonicalQuantity(canonical), canonical);
    }),
    settings,
  );
});

test("comparison is a total order", () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, anyQuantity, (a, b, c) => {
      equal(compareQuantities(a, a), 0);
      equal(compareQuantities(a, b), 0 - compareQuantities(b, a));
      const [low, middle, high] = [a, b, c].toSorted(compareQuantities);
      equal(compareQuantities(low!, middle!) <= 0 && compareQuantities(middle!, high!) <= 0 && compareQuantities(low!, high!) <= 0, true);
    }),
    settings,
  );
});

test("addition is associative and subtraction is its inverse", () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, anyQuantity, (a, b, c) => {
      const left = addQuantities(addQuantities(a, b), c);
      const right = addQuantities(a, addQuantities(b, c));
      equal(compareQuantities(left, right), 0);
      equal(compareQuantities(subtractQuantities(addQuantities(a, b), b), a), 0);
    }),
    settings,
  );
});

test("parsing any text terminates quickly, with a quantity or an error", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."0123456789.+-eEinumkKMGTP".split("")), maxLength: 40 }), (text) => {
      try {
        canonicalQuantity(text);
      } catch (error) {
        if (!(error instanceof QuantityError)) throw error;
      }
    }),
    settings,
  );
});
