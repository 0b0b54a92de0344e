import { deepEqual, throws } from "node:assert/strict";
import test from "node:test";
import { readPrintedRow } from "./printed-table.ts";

test("a printed row is parsed by the positions of its headers, including spaces and empty cells", () => {
  const printed = "NAME     LAST SCHEDULE   REASON   MESSAGE\ngolden   5m ago                   two words\n";

  deepEqual(
    [...readPrintedRow(printed)],
    [
      ["NAME", "golden"],
      ["LAST SCHEDULE", "5m ago"],
      ["REASON", ""],
      ["MESSAGE", "two words"],
    ],
  );
});

for (const [what, printed] of [
  ["begins after its header", "NAME     AGE\n golden   5m\n"],
  ["reaches into the next column", "NAME   AGE\ngolden 5m\n"],
  ["belongs to a second row", "NAME     AGE\ngolden   5m\nother    5m\n"],
] as const) {
  test(`a cell that ${what} is an error`, () => {
    throws(() => readPrintedRow(printed), /^Error: Expected /);
  });
}
