/** Every built-in type goes through both codecs: what comes out of protobuf is what comes out of JSON. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../testing/rounds.ts";
import { decodeBySchema } from "./machinery/codec/decode.ts";
import { parseJson, writeJson } from "./machinery/codec/json.ts";
import { decodeProtobuf, encodeProtobuf } from "./machinery/codec/protobuf.ts";
import { objectOf } from "./machinery/codec/testing/arbitrary.ts";
import type { ObjectSchema } from "./machinery/schema.ts";
import { schemas } from "./schemas.ts";

/** The types that a body or an answer can be of. */
function rootSchemas(): readonly ObjectSchema[] {
  return [...schemas.names()]
    .map((name) => schemas.get(name))
    .filter((schema) => schema?.type === "object")
    .filter(({ groupVersionKinds }) => groupVersionKinds !== undefined && groupVersionKinds.length > 0);
}

test("objects of every kind are the same after JSON and after protobuf", () => {
  const options = { numRuns: rounds({ quick: 2, full: 50 }), seed: testSeed() };
  const roots = rootSchemas();
  assert.ok(roots.length > 100);
  for (const schema of roots) {
    // Small objects of large types: what matters is that each field has its turn.
    fc.assert(
      fc.property(objectOf(schema, { percent: 30, depthMax: 5 }), (object) => {
        const { value, duplicates } = parseJson(new TextEncoder().encode(writeJson(object)));
        const throughJson = decodeBySchema(value, schema);

        assert.deepEqual(throughJson, { object, unknownFields: [] }, schema.name);
        assert.deepEqual(duplicates, [], schema.name);
        // Decoding again finds nothing to do.
        assert.equal(decodeBySchema(throughJson.object, schema).object, throughJson.object, schema.name);
        if (schema.protobuf !== undefined) assert.deepEqual(decodeProtobuf(encodeProtobuf(object, schema), schema), object, schema.name);
      }),
      options,
    );
  }
});
