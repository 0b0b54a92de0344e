/** Definitions whose validation costs far more than their size suggests: they are answered, and with the same message each time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../machinery/object.ts";
import { problemsOfNew, type Sent } from "../../../testing/kind.ts";
import { customResourceDefinitions } from "../custom-resource-definition.ts";
import { aDefinition, aVersion, withProperty, withSchema } from "../testing/definition.ts";

const ROOT = "spec.validation.openAPIV3Schema";
const A = `${ROOT}.properties[a]`;
const TOO_LONG =
  "Forbidden: takes too long to check, together with all patterns, enums and defaults of the object: use fewer or smaller ones";

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const branches = `^(${many(2_000, (index) => `a*b${index}`).join("|")})$`;
const words = many(3_000, (index) => `w${index}`);

const costly: readonly (readonly [it: string, sent: Sent, field: string])[] = [
  [
    "a default that a pattern of many branches is followed over",
    withProperty({ type: "string", pattern: branches, default: "a".repeat(5_000) }),
    `${A}.default`,
  ],
  [
    "a pattern that is a thousand times as long as it is written",
    withProperty({ type: "string", pattern: "(?:a{1000}b)".repeat(1_500) }),
    `${A}.pattern`,
  ],
  [
    "many small patterns",
    withSchema({
      type: "object",
      properties: Object.fromEntries(many(3_000, (index): [string, Json] => [`p${index}`, { type: "string", pattern: `${index}a{500}` }])),
    }),
    `${ROOT}.properties[p?].pattern`,
  ],
  [
    "items that are none of many words",
    withProperty({ type: "array", items: { type: "string", enum: words }, default: words.map((word) => `x${word}`) }),
    `${A}.default`,
  ],
  [
    "items that lack many members",
    withProperty({ type: "array", items: { type: "object", required: words }, default: many(1_000, () => ({})) }),
    `${A}.default`,
  ],
];
for (const [it, sent, field] of costly) {
  test(`a definition that is too expensive to validate is rejected: ${it}`, () => {
    const found = problemsOfNew(customResourceDefinitions, sent).map((problem) => problem.replace(/\[p\d+\]/, "[p?]"));

    assert.deepEqual(found, [`${field}: ${TOO_LONG}`]);
  });
}

const large: readonly (readonly [it: string, sent: Sent])[] = [
  ["items that are among many words", withProperty({ type: "array", items: { type: "string", enum: words }, default: words })],
  ["many versions", aDefinition({ versions: many(1_000, (index) => aVersion({ name: `v${index + 1}`, storage: index === 0 })) })],
  [
    "rules for many fields",
    withSchema({
      type: "object",
      properties: Object.fromEntries(words.map((word): [string, Json] => [word, { type: "string" }])),
      "x-kubernetes-validations": words.map((word) => ({ rule: "true", fieldPath: `.${word}` })),
    }),
  ],
];
for (const [it, sent] of large) {
  test(`a definition that is only large is accepted: ${it}`, () => {
    assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), []);
  });
}

test("errors with long paths are limited in number", () => {
  const wrong: Json = { type: "object", properties: Object.fromEntries(words.map((word): [string, Json] => [word, {}])) };
  const deep = many(100, (index) => `${"x".repeat(1_000)}${index}`).reduce<Json>(
    (schema, name) => ({ type: "object", properties: { [name]: schema } }),
    wrong,
  );
  const found = problemsOfNew(customResourceDefinitions, withSchema(deep));

  assert.ok(found.length > 1 && found.length < 20);
  assert.ok(found.every((problem) => problem.endsWith(".type: Required value: must not be empty for specified object fields")));
});
