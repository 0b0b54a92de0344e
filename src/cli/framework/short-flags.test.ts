import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { expandShortFlags } from "./short-flags.ts";

for (const [argv, expected] of [
  [["-f"], ["--follow"]],
  [
    ["-o", "json"],
    ["--output", "json"],
  ],
  [["-o=json"], ["--output=json"]],
  [
    ["-x", "--tail", "-5", "-"],
    ["-x", "--tail", "-5", "-"],
  ],
  [
    ["a", "--", "-f"],
    ["a", "--", "-f"],
  ],
] as const) {
  test(`${argv.join(" ")} is ${expected.join(" ")}`, () => deepEqual(expandShortFlags(argv, { f: "follow", o: "output" }), expected));
}
