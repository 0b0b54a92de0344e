import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldPathError, findField } from "./field-path.ts";
import type { JsonSchema } from "./json-schema.ts";

const SCHEMA: JsonSchema = {
  properties: {
    spec: {
      properties: {
        color: { type: "string" },
        "a.b": { type: "integer" },
        map: { additionalProperties: { type: "string" } },
        any: { additionalProperties: true },
      },
    },
  },
};

const found: readonly (readonly [text: string, path: string, type: string | undefined])[] = [
  [".spec.color", "spec.color", "string"],
  [".spec['a.b']", "spec.a.b", "integer"],
  ["['spec'].color", "spec.color", "string"],
  [".spec.map.key", "spec.map[key]", "string"],
  [".spec.map['it\\'s\\n']", "spec.map[it's\n]", "string"],
  [".spec.any.key", "spec.any[key]", undefined],
];
for (const [text, path, type] of found) {
  test(`the path ${text} resolves to ${JSON.stringify(path)}`, () => {
    const field = findField(text, SCHEMA);

    assert.deepEqual({ path: field.path, root: field.root, type: field.schema?.type }, { path, root: "spec", type });
  });
}

const lost: readonly (readonly [text: string, problem: string])[] = [
  ["spec", "expected [ or . but got: spec"],
  [".", "unexpected end of JSON path"],
  [".zz", "does not refer to a valid field"],
  [".spec.color.x", "does not refer to a valid field"],
  [".spec..color", "does not refer to a valid field"],
  [".spec[color]", "expected single quoted string but got color"],
  [".spec['color", "expected single quoted string but got 'color"],
  [".spec['color'", "unexpected end of JSON path"],
  [".spec['color'.", "expected ] but got ."],
  [".spec.map['\\x']", "invalid string literal: invalid escape char \\x"],
  [".spec[", "unexpected end of JSON path"],
];
for (const [text, problem] of lost) {
  test(`the path ${text} does not resolve: ${problem}`, () => {
    assert.throws(() => findField(text, SCHEMA), new FieldPathError(problem));
  });
}

test("brackets can be forbidden", () => {
  assert.throws(() => findField(".spec['color']", SCHEMA, { allowsBrackets: false }), new FieldPathError("array notation is not allowed"));
});
