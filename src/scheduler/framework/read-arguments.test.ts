import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { invalid } from "../../api/machinery/field-error.ts";
import { argumentsOf, checkedArguments, decodeArguments, INT32, listOf, structOf, TEXT } from "./read-arguments.ts";

const SCHEMA = argumentsOf("ThingArgs", { names: listOf(TEXT), part: structOf("Part", { size: INT32 }) });

const CASES: readonly (readonly [what: string, written: unknown, expected: unknown])[] = [
  ["nothing", undefined, { ok: true, arguments: {}, unknown: [] }],
  [
    "all there is",
    { kind: "ThingArgs", names: ["a"], part: { size: 0 } },
    { ok: true, arguments: { kind: "ThingArgs", names: ["a"], part: { size: 0 } }, unknown: [] },
  ],
  [
    "unknown fields",
    { name: "a", names: ["b"], part: { sise: 1 } },
    { ok: true, arguments: { names: ["b"], part: {} }, unknown: ['unknown field "name"', 'unknown field "part.sise"'] },
  ],
  [
    "a number that is a text",
    { part: { size: "1" } },
    { ok: false, problems: ["json: cannot unmarshal string into Go struct field Part.part.size of type int32"] },
  ],
  ["no object", "all", { ok: false, problems: ["json: cannot unmarshal string into Go value of type v1.ThingArgs"] }],
];

for (const [what, written, expected] of CASES) {
  test(`arguments with ${what} are read as upstream reads them`, () => deepEqual(decodeArguments(written, SCHEMA), expected));
}

test("invalid arguments are rejected with all errors", () => {
  deepEqual(checkedArguments({ size: 1 }, [], []), { ok: true, arguments: { size: 1 } });
  deepEqual(checkedArguments({ size: 1 }, [invalid("size", 1, "too small"), invalid("size", 1, "too odd")], ['unknown field "a"']), {
    ok: false,
    problems: ['unknown field "a"', "size: Invalid value: 1: too small", "size: Invalid value: 1: too odd"],
  });
});
