import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { isName, isWithin, labelsOf, MALFORMED, nameOfText, readName } from "./names.ts";
import { writeQuestion } from "./write-message.ts";

const label = fc.uint8Array({ minLength: 1, maxLength: 63 }).map((bytes) => String.fromCharCode(...bytes));

function escaped(text: string): string {
  return text.replace(/[.\\]/g, (character) => `\\${character}`).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

test("a written name is read back, whatever bytes its labels have", () => {
  fc.assert(
    fc.property(fc.array(label, { maxLength: 4 }), (labels) => {
      const name = labels.map(escaped).join(".");
      fc.pre(isName(name));
      const bytes = writeQuestion(name, 1);
      deepEqual(readName(bytes, 0), { name, next: bytes.length - 4 });
      deepEqual(
        labelsOf(name),
        labels.map((each) => each.replace(/[A-Z]/g, (letter) => letter.toLowerCase())),
      );
    }),
  );
});

test("reading a name of any bytes ends with a name or as malformed", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, offset) => {
      try {
        const { name, next } = readName(bytes, offset);
        equal(isName(name), true);
        equal(next > offset && next <= bytes.length, true);
      } catch (error) {
        equal(error, MALFORMED);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe("compression pointers", () => {
  const cases: readonly [title: string, bytes: readonly number[], offset: number][] = [
    ["to itself", [0xc0, 0x00], 0],
    ["to each other", [0xc0, 0x02, 0xc0, 0x00], 2],
    ["forward", [0xc0, 0x02, 0x01, 0x61, 0x00], 0],
    ["into the label before it", [0x01, 0x61, 0xc0, 0x00], 0],
    ["without its second byte", [0xc0], 0],
    ["beyond the end", [0xc1, 0xff], 0],
    ["of the reserved kind", [0x80, 0x00], 0],
  ];
  for (const [title, bytes, offset] of cases)
    test(`a pointer ${title} is malformed`, () => throws(() => readName(new Uint8Array(bytes), offset), MALFORMED));

  test("a pointer back to a name is followed", () => {
    deepEqual(readName(new Uint8Array([1, 0x61, 0, 1, 0x42, 0xc0, 0]), 3), { name: "b.a", next: 7 });
  });

  test("a name that pointers make longer than 255 bytes is malformed", () => {
    const long = writeQuestion(Array.from({ length: 4 }, () => "x".repeat(62)).join("."), 1).slice(0, -4);
    const bytes = new Uint8Array([...long, 3, 0x61, 0x61, 0x61, 0xc0, 0]);
    throws(() => readName(bytes, long.length), MALFORMED);
  });
});

test("names of users lose case and the final dot", () => {
  deepEqual(["Example.COM.", "example.com", ".", "", "a..b", "ä€"].map(nameOfText), [
    "example.com",
    "example.com",
    "",
    "",
    undefined,
    undefined,
  ]);
});

test("a name is within a zone only at a label's boundary", () => {
  const cases: readonly [string, boolean][] = [
    ["cluster.local", true],
    ["a.cluster.local", true],
    ["acluster.local", false],
    ["local", false],
    ["a\\.cluster.local", false],
    ["a\\\\.cluster.local", true],
  ];
  deepEqual(
    cases.map(([name]) => [name, isWithin(name, "cluster.local")]),
    cases,
  );
});
