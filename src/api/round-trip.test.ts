/** Every built-in type passes both codecs: protobuf and JSON must decode to the same object. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../testing/rounds.ts";
import { decodeBySchema } from "./machinery/codec/decode.ts";
import { parseJson, writeJson } from "./machinery/codec/json.ts";
import { decodeProtobuf, encodeProtobuf } from "./machinery/codec/protobuf/protobuf.ts";
import { objectOf } from "./machinery/codec/testing/arbitrary.ts";
import type { JsonObject } from "./machinery/object.ts";
import type { ObjectSchema } from "./machinery/schema.ts";
import { schemaOf, schemas } from "./schemas.ts";

/** The types of request and response bodies. */
function rootSchemas(): readonly ObjectSchema[] {
  return [...schemas.names()]
    .map((name) => schemas.get(name))
    .filter((schema) => schema?.type === "object")
    .filter(({ groupVersionKinds }) => groupVersionKinds !== undefined && groupVersionKinds.length > 0);
}

test("objects of every kind are equal after a round trip through JSON and protobuf", () => {
  const options = { numRuns: rounds({ quick: 2, full: 50 }), seed: testSeed() };
  const roots = rootSchemas();
  assert.ok(roots.length > 100);
  for (const schema of roots) {
    // Small objects of large types: every field must occur eventually.
    fc.assert(
      fc.property(objectOf(schema, { percent: 30, depthMax: 5 }), (object) => {
        const { value, duplicates } = parseJson(new TextEncoder().encode(writeJson(object)));
        const throughJson = decodeBySchema(value, schema);

        assert.deepEqual(throughJson, { object, unknownFields: [] }, schema.name);
        assert.deepEqual(duplicates, [], schema.name);
        // Decoding is idempotent.
        assert.equal(decodeBySchema(throughJson.object, schema).object, throughJson.object, schema.name);
        if (schema.protobuf !== undefined) assert.deepEqual(decodeProtobuf(encodeProtobuf(object, schema), schema), object, schema.name);
      }),
      options,
    );
  }
});

/** Unions of all kinds in one schema. */
const JSON_SCHEMA = {
  type: "object",
  properties: {
    spec: { type: "object", additionalProperties: { type: "string", default: "a" } },
    list: { type: "array", items: { type: "integer", minimum: 1 }, additionalItems: false },
    tuple: { type: "array", items: [{ type: "string" }, { type: "array", items: { enum: [null, 1, "a"] } }] },
    free: { type: "object", additionalProperties: true, dependencies: { a: ["b", "c"], d: { required: ["e"] } } },
  },
};

test("a CustomResourceDefinition with its whole schema is equal after a round trip through protobuf", () => {
  const schema = schemaOf("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition");
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: JSON_SCHEMA } }];
  const given = { metadata: { name: "as.example.com" }, spec: { group: "example.com", names: { plural: "as", kind: "A" }, versions } };

  const { object, unknownFields } = decodeBySchema({ ...given, spec: { ...given.spec, scope: "Cluster" } }, schema);

  assert.deepEqual(unknownFields, []);
  assert.deepEqual(decodeProtobuf(encodeProtobuf(object as JsonObject, schema), schema), object);
});

/** What upstream writes for an empty JSONSchemaProps, split where its unions are. */
const EMPTY = ["0a00120022002a0032003a00500060007a00900100", "a80200b80200c00200"] as const;
const CHOICE_BYTES: readonly (readonly [object: JsonObject, hex: string])[] = [
  [{ items: {} }, `c201200a1e${EMPTY.join("")}`],
  [{ items: [{}] }, `c20120121e${EMPTY.join("")}`],
  [{ additionalProperties: true }, "f201020801"],
  [{ additionalProperties: {} }, `f201220801121e${EMPTY.join("")}`],
  [{ dependencies: { a: ["x", "y"] } }, "82020b0a01611206120178120179"],
];
for (const [object, hex] of CHOICE_BYTES) {
  test(`${JSON.stringify(object)} in a JSON schema has the same bytes as upstream`, () => {
    const schema = schemaOf("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");

    const bytes = encodeProtobuf(object, schema);

    assert.equal([...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""), EMPTY.join(hex));
  });
}
