import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../machinery/object.ts";
import { problems } from "../../../testing/kind.ts";
import type { JsonSchema } from "./json-schema.ts";
import { asResource, coerceMetadata, MetadataError, validateMetadata } from "./metadata.ts";

const ROOT: JsonSchema = asResource({
  properties: { template: asResource({}), list: { items: asResource({}) }, map: { additionalProperties: asResource({}) } },
});

test("unknown fields of metadata are dropped, also in embedded resources, and nothing else is", () => {
  const value = {
    metadata: { name: "a", foo: 1 },
    foo: 1,
    template: { metadata: { foo: 1, creationTimestamp: null } },
    list: [{ metadata: { foo: 1 } }],
  };

  assert.deepEqual(coerceMetadata(value, ROOT), { metadata: { name: "a" }, foo: 1, template: { metadata: {} }, list: [{ metadata: {} }] });
});

test("metadata of a part that is no embedded resource is an ordinary member", () => {
  const value = { spec: { metadata: { foo: 1 } } };

  assert.equal(coerceMetadata(value, { properties: { spec: {} } }), value);
});

const wrongTypes: readonly (readonly [it: string, value: Json, problem: string])[] = [
  ["kind", { kind: 1 }, "kind: Invalid value: 1: must be a string"],
  ["apiVersion of an item", { list: [{ apiVersion: {} }] }, "list[0].apiVersion: Invalid value: {}: must be a string"],
  [
    "name",
    { map: { a: { metadata: { name: 1 } } } },
    'map[a].metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  ],
];
for (const [it, value, problem] of wrongTypes) {
  test(`a resource is rejected if its ${it} has another type`, () => {
    assert.throws(
      () => coerceMetadata(value, ROOT),
      (error) => error instanceof MetadataError && problems([error.error])[0] === problem,
    );
  });
}

test("members of embedded resources are validated as in every object, and a name is optional", () => {
  const value = {
    apiVersion: "a/b/c",
    kind: "",
    metadata: { namespace: "A", labels: { "-": "x" } },
    template: { apiVersion: "", kind: "x_", metadata: {} },
    list: [{}],
  };

  assert.deepEqual(
    problems(validateMetadata(value, ROOT)).map((problem) => problem.replace(/(a DNS-1035|a lowercase RFC|name part).*/, "$1…")),
    [
      'apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'kind: Invalid value: "": must not be empty',
      'metadata.namespace: Invalid value: "A": a lowercase RFC…',
      'metadata.labels: Invalid value: "-": name part…',
      'template.apiVersion: Invalid value: "": must not be empty',
      'template.kind: Invalid value: "x_": may have mixed case, but should otherwise match: a DNS-1035…',
      "list[0].apiVersion: Required value",
      "list[0].kind: Required value",
    ],
  );
});
