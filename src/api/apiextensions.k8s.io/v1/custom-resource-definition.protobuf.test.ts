import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBySchema } from "../../machinery/codec/decode.ts";
import { decodeProtobuf, encodeProtobuf } from "../../machinery/codec/protobuf/protobuf.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { schemaOf } from "../../schemas.ts";
import { newObject } from "../../testing/kind.ts";
import { customResourceDefinitions } from "./custom-resource-definition.ts";
import { withSchema } from "./testing/definition.ts";

const TYPES = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/** Every form of the union members: a schema or a list of them, a boolean, or names; and free-form JSON. */
const RICH: JsonObject = {
  type: "object",
  description: "d",
  required: ["a"],
  example: { b: "<", a: [1, null] },
  properties: {
    a: { type: "string", enum: ["x", 0], default: "x", maxLength: 0 },
    f: { type: "number", minimum: -1.25, exclusiveMinimum: true, multipleOf: 0.5 },
    l: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    p: { items: [{ type: "string" }, { type: "integer" }], additionalItems: false },
    m: { type: "object", additionalProperties: { type: "string" } },
    t: { type: "object", additionalProperties: true },
    n: { type: "object", additionalProperties: false },
    d: { dependencies: { x: ["y"], z: { type: "object" } } },
  },
  not: { required: ["q"] },
  "x-kubernetes-preserve-unknown-fields": false,
  "x-kubernetes-validations": [{ rule: "true", reason: "FieldValueInvalid", optionalOldSelf: false }],
};

/** The bytes that upstream's own types write for it. */
const BYTES = [
  "0a0012002201642a066f626a65637432003a00500060007a00900100ba010161e201220a00120022002a0032003a00500060007a00900100ba010171",
  "a80200b80200c00200ea01400a0161123b0a00120022002a06737472696e6732003a0042050a032278225000600068007a00900100a201050a032278",
  "22a201030a0130a80200b80200c00200ea015c0a016412570a00120022002a0032003a00500060007a009001008202080a0178120312017982022b0a",
  "017a12260a240a00120022002a066f626a65637432003a00500060007a00900100a80200b80200c00200a80200b80200c00200ea013c0a016612370a",
  "00120022002a066e756d62657232003a00500059000000000000f4bf60017a009001009901000000000000e03fa80200b80200c00200ea01570a016c",
  "12520a00120022002a05617272617932003a00500060007a00900100c201260a240a00120022002a06737472696e6732003a00500060007a00900100",
  "a80200b80200c00200a80200b80200c00200d20203736574ea01540a016d124f0a00120022002a066f626a65637432003a00500060007a00900100f2",
  "0128080112240a00120022002a06737472696e6732003a00500060007a00900100a80200b80200c00200a80200b80200c00200ea012e0a016e12290a",
  "00120022002a066f626a65637432003a00500060007a00900100f201020800a80200b80200c00200ea01780a017012730a00120022002a0032003a00",
  "500060007a00900100c2014d12240a00120022002a06737472696e6732003a00500060007a00900100a80200b80200c0020012250a00120022002a07",
  "696e746567657232003a00500060007a00900100a80200b80200c002008a02020800a80200b80200c00200ea012e0a017412290a00120022002a066f",
  "626a65637432003a00500060007a00900100f201020801a80200b80200c00200a2021d0a1b7b2261223a5b312c6e756c6c5d2c2262223a225c753030",
  "3363227da80200b00200b80200c00200e202210a047472756512001a0022114669656c6456616c7565496e76616c69642a003000",
].join("");

test("a rich schema is encoded to upstream's bytes, and decoded from them", () => {
  const schema = schemaOf(`${TYPES}.JSONSchemaProps`);
  const object = decodeBySchema(RICH, schema).object as JsonObject;

  const bytes = encodeProtobuf(object, schema);

  assert.equal(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""), BYTES);
  assert.deepEqual(decodeProtobuf(bytes, schema), object);
});

test("a whole CustomResourceDefinition survives a round trip through protobuf", () => {
  const schema = schemaOf(`${TYPES}.CustomResourceDefinition`);
  const {
    apiVersion: _,
    kind: __,
    ...definition
  } = newObject(customResourceDefinitions, withSchema(RICH, { subresources: { status: {} } }));
  const { conditions, ...status } = definition.status ?? {};

  const back = decodeProtobuf(encodeProtobuf(definition, schema), schema);

  assert.equal(conditions, null);
  assert.deepEqual(back, { ...definition, status });
});
