import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew, type Sent } from "../../../testing/kind.ts";
import { customResourceDefinitions } from "../custom-resource-definition.ts";
import { withProperty, withSchema } from "../testing/definition.ts";

const S: JsonObject = { type: "string" };
const ROOT = "spec.validation.openAPIV3Schema";
const A = `${ROOT}.properties[a].default`;

/** An embedded resource, with this default. */
function embedded(metadata: JsonObject): Sent {
  return withProperty({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    default: { apiVersion: "v1", kind: "X", metadata },
  });
}

const ROWS: readonly [it: string, sent: Sent, problems: readonly string[]][] = [
  [
    "is none of the values that there are",
    withProperty({ type: "string", enum: ["x", "y"], default: "z" }),
    [`${A}: Unsupported value: "z": supported values: "x", "y"`],
  ],
  ["is too long", withProperty({ type: "string", maxLength: 2, default: "zzz" }), [`${A}: Too long: may not be more than 2 bytes`]],
  [
    "has too many items",
    withProperty({ type: "array", items: S, maxItems: 1, default: ["a", "b"] }),
    [`${A}: Too many: 2: must have at most 1 item`],
  ],
  [
    "has too many members",
    withProperty({ type: "object", additionalProperties: S, maxProperties: 1, default: { a: "a", b: "b" } }),
    [`${A}: Too many: 2: must have at most 1 item`],
  ],
  ["lacks a member", withProperty({ type: "object", required: ["b"], properties: { b: S }, default: {} }), [`${A}.b: Required value`]],
  [
    "lacks a member without a name",
    withProperty({ type: "object", required: [""], properties: { b: S }, default: {} }),
    [`${A}: Required value`],
  ],
  [
    "is that of the root, and no object of any kind",
    withSchema({ type: "object", default: {} }),
    [`${ROOT}.default.apiVersion: Required value`, `${ROOT}.default.kind: Required value`],
  ],
  [
    "sets metadata of an embedded resource that only the server sets",
    embedded({
      name: "a",
      managedFields: [
        { manager: "a\u0007", operation: "Guess", fieldsType: "V2" },
        { manager: "m".repeat(129), operation: "Apply", subresource: "s".repeat(257), fieldsType: "FieldsV1" },
      ],
    }),
    [
      `${A}.metadata.managedFields[0].operation: Invalid value: "Guess": must be \`Apply\` or \`Update\``,
      `${A}.metadata.managedFields[0].fieldsType: Invalid value: "V2": must be \`FieldsV1\``,
      `${A}.metadata.managedFields[0].manager: Invalid value: "a\\a": invalid character U+0007 (at position 1)`,
      `${A}.metadata.managedFields[1].manager: Too long: may not be more than 128 bytes`,
      `${A}.metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes`,
    ],
  ],
  [
    "violates a rule",
    withProperty({ type: "string", default: "nope", "x-kubernetes-validations": [{ rule: "self.startsWith('kube')" }] }),
    [`${A}: Invalid value: "nope": failed rule: self.startsWith('kube')`],
  ],
  [
    "violates a rule of one of its fields",
    withProperty({
      type: "object",
      default: { b: "x" },
      properties: {
        b: { ...S, maxLength: 5, "x-kubernetes-validations": [{ rule: "self != 'x'", message: "not x", reason: "FieldValueForbidden" }] },
      },
    }),
    [`${A}.b: Forbidden: not x`],
  ],
  [
    "violates a rule that only holds for changes",
    withProperty({ type: "string", default: "a", "x-kubernetes-validations": [{ rule: "oldSelf.hasValue()", optionalOldSelf: true }] }),
    [`${A}: Invalid value: "a": failed rule: oldSelf.hasValue()`],
  ],
  [
    "violates a rule in the metadata of an embedded resource",
    withProperty({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: {
        metadata: {
          type: "object",
          properties: { name: { type: "string", default: "nope", "x-kubernetes-validations": [{ rule: "self == 'single'" }] } },
        },
      },
    }),
    [`${ROOT}.properties[a].properties[metadata].properties[name].default: Invalid value: "nope": failed rule: self == 'single'`],
  ],
  [
    "has a rule that does not compile",
    withProperty({ type: "string", default: "a", "x-kubernetes-validations": [{ rule: "self" }] }),
    [`${A}: Invalid value: "string": rule compile error: cel expression must evaluate to a bool`],
  ],
];

test("a default is accepted that satisfies the rules, also those for changes", () => {
  const rules = [{ rule: "self.startsWith('kube')" }, { rule: "self == oldSelf" }];
  const sent = withProperty({ type: "string", maxLength: 10, default: "kube-x", "x-kubernetes-validations": rules });

  assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), []);
});

for (const [it, sent, problems] of ROWS) {
  test(`a default is rejected that ${it}`, () => {
    assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), problems);
  });
}

test("items of a default may be duplicates, for any list type", () => {
  for (const type of ["set", "atomic"]) {
    const sent = withProperty({ type: "array", "x-kubernetes-list-type": type, items: S, default: ["a", "a"] });

    assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), []);
  }
});
