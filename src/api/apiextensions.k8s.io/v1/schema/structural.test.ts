/** Every condition must be about something whose structure is known. Other rules of structural schemas: validate-schema.test.ts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew } from "../../../testing/kind.ts";
import { customResourceDefinitions } from "../custom-resource-definition.ts";
import { withSchema } from "../testing/definition.ts";

const LONG: Json = { minLength: 1 };

/** Schemas of the root, which is an object; the paths are those within the schema. */
const ROWS: readonly [title: string, schema: JsonObject, problems: readonly (readonly [at: string, definedAt: string])[]][] = [
  ["properties that there are", { properties: { a: { type: "string" } }, allOf: [{ properties: { a: LONG } }] }, []],
  [
    "properties and items that there are not",
    { allOf: [{ properties: { a: LONG } }], anyOf: [{ items: LONG }], not: { properties: { b: LONG } } },
    [
      ["items", "anyOf[0].items"],
      ["properties[a]", "allOf[0].properties[a]"],
      ["properties[b]", "not.properties[b]"],
    ],
  ],
  [
    "items of a property that has none",
    { properties: { a: { type: "object" } }, oneOf: [{ properties: { a: { items: LONG } } }] },
    [["properties[a].items", "oneOf[0].properties[a].items"]],
  ],
];

for (const [title, schema, problems] of ROWS) {
  test(`conditions on ${title} are ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const root = "spec.validation.openAPIV3Schema";

    assert.deepEqual(
      problemsOfNew(customResourceDefinitions, withSchema({ type: "object", ...schema })),
      problems.map(([at, definedAt]) => `${root}.${at}: Required value: because it is defined in ${root}.${definedAt}`),
    );
  });
}
