import assert from "node:assert/strict";
import test from "node:test";
import { amountOf, shareOf, validateAtMostAll, validateNumberOrPercent, type NumberOrPercent } from "./number-or-percent.ts";
import { problems as textsOf } from "./testing/kind.ts";

const ROWS: readonly [value: NumberOrPercent, amount: number, problems: readonly string[]][] = [
  [0, 0, []],
  [250, 250, []],
  [-1, -1, ["f: Invalid value: -1: must be greater than or equal to 0"]],
  ["100%", 100, []],
  ["101%", 101, ['f: Invalid value: "101%": must not be greater than 100%']],
  [
    "7",
    7,
    [
      "f: Invalid value: \"7\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    "-7",
    -7,
    [
      "f: Invalid value: \"-7\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    "x%",
    0,
    [
      "f: Invalid value: \"x%\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
];

for (const [value, amount, problems] of ROWS) {
  test(`${JSON.stringify(value)} is ${amount}, and ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(textsOf([...validateNumberOrPercent(value, "f"), ...validateAtMostAll(value, "f")]), problems);
    assert.equal(amountOf(value), amount);
  });
}

for (const { value, of, up, down } of [
  { value: 7, of: 3, up: 7, down: 7 },
  { value: "25%", of: 10, up: 3, down: 2 },
  { value: "50%", of: 10, up: 5, down: 5 },
  { value: "100%", of: 0, up: 0, down: 0 },
]) {
  test(`${value} of ${of} are ${up}, or ${down} rounded down`, () => {
    assert.deepEqual([shareOf(value, { of, round: "up" }), shareOf(value, { of, round: "down" })], [up, down]);
  });
}
