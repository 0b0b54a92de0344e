import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testSeed } from "../testing/rounds.ts";
import { csvRecords } from "./csv.ts";

const rows: readonly [text: string, records: readonly (readonly string[])[]][] = [
  ["", []],
  ["\n\r\n\n", []],
  ["a,b", [["a", "b"]]],
  ["a,b\n", [["a", "b"]]],
  ["a,b\r\nc\r\n", [["a", "b"], ["c"]]],
  ["a\r", [["a"]]],
  [",", [["", ""]]],
  ["a,\nb", [["a", ""], ["b"]]],
  [" a ,b", [[" a ", "b"]]],
  ['"a,b",c', [["a,b", "c"]]],
  ['"a""b"', [['a"b']]],
  ['"a\nb",c', [["a\nb", "c"]]],
  ['""', [[""]]],
];

for (const [text, records] of rows) {
  test(`${JSON.stringify(text)} has the records ${JSON.stringify(records)}`, () => deepEqual(csvRecords(text), records));
}

for (const text of ['a"b', '"a"b', '"a', ' "a"', 'x\ny,"', '"a" ,b']) {
  test(`${JSON.stringify(text)} is rejected for a bare double quote`, () =>
    throws(() => csvRecords(text), /^Error: Line \d has a bare double quote/));
}

test("written records are read back unchanged", () => {
  const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`;
  const field = fc.string({ maxLength: 5 }).map((text) => text.replaceAll("\r", ""));
  fc.assert(
    fc.property(fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 4 }), (records) => {
      deepEqual(csvRecords(records.map((record) => record.map(quoted).join(",")).join("\n")), records);
    }),
    { seed: testSeed() },
  );
});
