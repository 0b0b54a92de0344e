import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../machinery/object.ts";
import { problems } from "../../../testing/kind.ts";
import type { JsonSchema } from "./json-schema.ts";
import { validateValue } from "./validate-value.ts";

const S = { type: "string" };
const I = { type: "integer" };
const N = { type: "number" };
const O = { type: "object", properties: { a: I, b: S, c: { type: "array", items: I } } };

const rows: readonly (readonly [it: string, schema: JsonSchema, value: Json, problems: readonly string[]])[] = [
  ["text for a number", I, "x", ['it: Invalid value: "string":  in body must be of type integer: "string"']],
  ["a number for text", S, 1, ['it: Invalid value: "integer":  in body must be of type string: "integer"']],
  [
    "half a number for a whole one",
    I,
    1.5,
    [
      'it: Invalid value: "number":  in body must be of type integer: "number"',
      'it: Invalid value: "": Checked value must be of type integer (default format) in ',
    ],
  ],
  ["a whole number for any", N, 1, []],
  ["a whole number of 64 bits", I, 9007199254740993n, []],
  ["null", S, null, ['it: Invalid value: "null":  in body must be of type string: "null"']],
  ["null where it may be", { type: "string", nullable: true }, null, []],
  ["a list for an object", { type: "object" }, [], ['it: Invalid value: "array":  in body must be of type object: "array"']],
  ["true for text", S, true, ['it: Invalid value: "boolean":  in body must be of type string: "boolean"']],
  [
    "a text or number that is neither",
    { "x-kubernetes-int-or-string": true },
    1.5,
    ['it: Invalid value: "number":  in body must be of type integer,string: "number"'],
  ],
  ["a text or number that is a text", { "x-kubernetes-int-or-string": true }, "x", []],
  ["anything where there is no type", {}, [{}], []],
  [
    "a number of more than 32 bits",
    { type: "integer", format: "int32" },
    5e9,
    ['it: Invalid value: "": Checked value must be of type integer with format int32 in '],
  ],
  [
    "a number for a single that is too large",
    { type: "number", format: "float" },
    1e39,
    ['it: Invalid value: "": Checked value must be of type number with format float in '],
  ],
  ["text in a format of numbers", { type: "string", format: "int32" }, "x", []],
  ["text that is no date", { type: "string", format: "date" }, "x", ['it: Invalid value: "x":  in body must be of type date: "x"']],
  ["text in an unrecognized format", { type: "string", format: "foo" }, "x", []],
  ["text that is too short", { type: "string", minLength: 2 }, "😀", ['it: Invalid value: "😀":  in body should be at least 2 chars long']],
  ["text that is too long", { type: "string", maxLength: 2 }, "abc", ["it: Too long: may not be more than 2 bytes"]],
  [
    "text that is too long for a pattern, which is not asked",
    { type: "string", maxLength: 2, pattern: "^x" },
    "abc",
    ["it: Too long: may not be more than 2 bytes"],
  ],
  [
    "text that does not match",
    { type: "string", pattern: "^[a-z]+$" },
    "A",
    ["it: Invalid value: \"A\":  in body should match '^[a-z]+$'"],
  ],
  [
    "text and a pattern that is none",
    { type: "string", pattern: "(" },
    "A",
    ["it: Invalid value: \"A\":  in body should match '(, but pattern is invalid: error parsing regexp: missing closing ): `(`'"],
  ],
  ["a word that is not in the list", { type: "string", enum: ["a", "b"] }, "c", ['it: Unsupported value: "c": supported values: "a", "b"']],
  ["an object that is in the list", { type: "object", enum: [{ a: 1, b: [2] }] }, { b: [2], a: 1 }, []],
  [
    "an object that is not in the list",
    { type: "object", enum: [{ a: 1 }] },
    { a: 2 },
    ['it: Unsupported value: {"a":2}: supported values: "{\\"a\\":1}"'],
  ],
  [
    "null and a list with null, which is no word",
    { nullable: true, enum: [null] },
    null,
    ['it: Unsupported value: null: supported values: "null"'],
  ],
  ["a number that is in the list once it is cut", { type: "number", enum: [1] }, 1.5, []],
  ["numbers below", { type: "integer", minimum: 2 }, 1, ["it: Invalid value: 1:  in body should be greater than or equal to 2"]],
  ["numbers above", { type: "integer", maximum: 2 }, 3, ["it: Invalid value: 3:  in body should be less than or equal to 2"]],
  [
    "numbers at the lower end that is not included",
    { type: "integer", minimum: 2, exclusiveMinimum: true },
    2,
    ["it: Invalid value: 2:  in body should be greater than 2"],
  ],
  [
    "numbers at the upper end that is not included",
    { type: "number", maximum: 1e6, exclusiveMaximum: true },
    1000000.5,
    ["it: Invalid value: 1.0000005e+06:  in body should be less than 1e+06"],
  ],
  [
    "numbers compared with the whole part of the limit",
    { type: "number", maximum: 2.5 },
    3,
    ["it: Invalid value: 3:  in body should be less than or equal to 2"],
  ],
  [
    "numbers with a limit that their type cannot have",
    { type: "integer", minimum: 1.5 },
    1,
    [
      'it: Invalid value: "": Minimum boundary value must be of type integer (default format) in ',
      "it: Invalid value: 1:  in body should be greater than or equal to 1.5",
    ],
  ],
  ["numbers that are not multiples", { type: "integer", multipleOf: 3 }, 7, ["it: Invalid value: 7:  in body should be a multiple of 3"]],
  ["numbers that are multiples of a fraction", { type: "number", multipleOf: 0.1 }, 0.3, []],
  [
    "numbers that are not multiples of a fraction",
    { type: "number", multipleOf: 2.5 },
    5.5,
    ["it: Invalid value: 5.5:  in body should be a multiple of 2.5"],
  ],
  [
    "numbers and a factor that is negative",
    { type: "integer", multipleOf: -1 },
    2,
    ["it: Invalid value: -1: factor MultipleOf declared for  must be positive: -1"],
  ],
  [
    "lists that are too short",
    { type: "array", items: I, minItems: 1 },
    [],
    ["it: Invalid value: 0:  in body should have at least 1 items"],
  ],
  ["lists that are too long", { type: "array", items: I, maxItems: 1 }, [1, 2], ["it: Too many: 2: must have at most 1 item"]],
  [
    "wrong items",
    { type: "array", items: I },
    [1, "x", null],
    [
      'it.[1]: Invalid value: "string": [1] in body must be of type integer: "string"',
      'it.[2]: Invalid value: "null": [2] in body must be of type integer: "null"',
    ],
  ],
  [
    "items that occur twice",
    { type: "array", items: I, uniqueItems: true },
    [1, 1],
    ['it: Invalid value: "":  in body shouldn\'t contain duplicates'],
  ],
  [
    "objects with too few members",
    { type: "object", minProperties: 1 },
    {},
    ["it: Invalid value: 0:  in body should have at least 1 properties"],
  ],
  ["objects with too many members", { type: "object", maxProperties: 1 }, { a: 1, b: 2 }, ["it: Too many: 2: must have at most 1 item"]],
  [
    "objects with members that may not be there",
    { type: "object", additionalProperties: false },
    { a: 1 },
    ['it: Invalid value: "a": .a in body is a forbidden property'],
  ],
  [
    "wrong members of a map",
    { type: "object", additionalProperties: I },
    { a: "x", b: 1 },
    ['it.a: Invalid value: "string": .a in body must be of type integer: "string"'],
  ],
  [
    "missing members, deep inside",
    { type: "object", properties: { a: { type: "object", required: ["b"] } }, required: ["c"] },
    { a: {} },
    ["it.a.b: Required value", "it.c: Required value"],
  ],
  [
    "wrong members, deep inside",
    { type: "object", properties: { a: { type: "array", items: O } } },
    { a: [{ a: "x" }] },
    ['it.a[0].a: Invalid value: "string": a[0].a in body must be of type integer: "string"'],
  ],
  [
    "a member called __proto__",
    { type: "object", additionalProperties: I },
    JSON.parse('{"__proto__":"x"}'),
    ['it.__proto__: Invalid value: "string": .__proto__ in body must be of type integer: "string"'],
  ],
  [
    "none of several",
    { ...O, anyOf: [{ required: ["a"] }, { required: ["b", "c"] }] },
    {},
    ['it: Invalid value: "": "" must validate at least one schema (anyOf)', "it.a: Required value"],
  ],
  [
    "none of several, of which the nearest is shown",
    { ...O, anyOf: [{ required: ["a", "b"] }, { properties: { a: { minimum: 5 } }, required: ["a"] }] },
    { a: 1 },
    [
      'it: Invalid value: "": "" must validate at least one schema (anyOf)',
      "it.a: Invalid value: 1: a in body should be greater than or equal to 5",
    ],
  ],
  ["one of several", { ...O, anyOf: [{ required: ["a"] }, { required: ["b"] }] }, { b: "x" }, []],
  [
    "none where one is needed",
    { ...O, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    {},
    ['it: Invalid value: "": "" must validate one and only one schema (oneOf). Found none valid', "it.a: Required value"],
  ],
  [
    "two where one is needed",
    { ...O, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    { a: 1, b: "x" },
    ['it: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  ["one where one is needed", { ...O, oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1 }, []],
  [
    "not all",
    { ...O, allOf: [{ required: ["a"] }, { required: ["b"] }] },
    { a: 1 },
    ["it.b: Required value", 'it: Invalid value: "": "" must validate all the schemas (allOf)'],
  ],
  [
    "none of all",
    { ...O, allOf: [{ required: ["a"] }, { required: ["b"] }] },
    {},
    ["it.a: Required value", "it.b: Required value", 'it: Invalid value: "": "" must validate all the schemas (allOf). None validated'],
  ],
  ["what it must not be", { ...O, not: { required: ["a"] } }, { a: 1 }, ['it: Invalid value: "": "" must not validate the schema (not)']],
  [
    "the same mistake in two schemas, which is said once",
    { allOf: [{ type: "string" }, { type: "string" }] },
    1,
    [
      'it: Invalid value: "integer":  in body must be of type string: "integer"',
      'it: Invalid value: "": "" must validate all the schemas (allOf). None validated',
    ],
  ],
];
for (const [it, schema, value, expected] of rows) {
  test(`validation of a value: ${it}`, () => {
    assert.deepEqual(problems(validateValue(value, schema, { at: "it" })), expected);
  });
}

test("by default the value is the whole object, and fields are named from there", () => {
  assert.deepEqual(problems(validateValue({ spec: { a: "x" } }, { type: "object", properties: { spec: O } })), [
    'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
  ]);
});

test("in defaults int-or-string has no type of its own, and unrecognized formats replace the type", () => {
  const ofDefault = { at: "d", of: "default" } as const;

  assert.deepEqual(validateValue(1.5, { "x-kubernetes-int-or-string": true }, ofDefault), []);
  assert.deepEqual(validateValue("x", { type: "object", format: "foo" }, ofDefault), []);
  assert.deepEqual(problems(validateValue("x", { type: "object", format: "foo" }, { at: "d" })), [
    'd: Invalid value: "string":  in body must be of type object: "string"',
  ]);
});
