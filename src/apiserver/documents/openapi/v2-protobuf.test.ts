import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { Reader, WIRE_BYTES, WIRE_VARINT } from "../../../base/protobuf/wire.ts";
import { encodeV2Document } from "./v2-protobuf.ts";

/** Decodes field numbers and values along the path of numbers. */
function at(bytes: Uint8Array, ...numbers: readonly number[]): readonly Uint8Array[] {
  const [number, ...rest] = numbers;
  if (number === undefined) return [bytes];
  const found: Uint8Array[] = [];
  const reader = new Reader(bytes);
  while (!reader.atEnd) {
    const tag = reader.tag();
    if ((tag & 7) === WIRE_VARINT) reader.varint();
    else if ((tag & 7) !== WIRE_BYTES) throw new Error(`Wire type ${tag & 7}`);
    else {
      const value = reader.bytes();
      if (tag >>> 3 === number) found.push(...at(value, ...rest));
    }
  }
  return found;
}

const document = {
  swagger: "2.0",
  info: { title: "Kubernetes", version: "1.36" },
  paths: {
    "/api/v1/pods": {
      get: {
        operationId: "listPods",
        parameters: [
          { name: "limit", in: "query", type: "integer", uniqueItems: true },
          { name: "name", in: "path", type: "string", required: true },
          { name: "body", in: "body", schema: { $ref: "#/definitions/Pod" } },
        ],
        responses: { 200: { description: "OK", schema: { $ref: "#/definitions/Pod" } } },
        "x-kubernetes-action": "list",
      },
    },
  },
  definitions: {
    Pod: {
      type: "object",
      required: ["spec"],
      properties: {
        spec: { description: "Wanted.", type: "array", items: { type: "string", enum: ["a"] } },
        labels: { type: "object", additionalProperties: { type: "string" } },
      },
    },
  },
  securityDefinitions: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
  security: [{ BearerToken: [] }],
};

const bytes = Uint8Array.from([...encodeV2Document(document)].flatMap((piece) => [...piece]));

/** Field numbers of gnostic's messages, from names to values. */
const rows: readonly { readonly what: string; readonly path: readonly number[]; readonly holds: readonly string[] }[] = [
  { what: "the version of Swagger", path: [1], holds: ["2.0"] },
  { what: "the title", path: [2, 1], holds: ["Kubernetes"] },
  { what: "a path", path: [8, 2, 1], holds: ["/api/v1/pods"] },
  { what: "an operation's id", path: [8, 2, 2, 2, 5], holds: ["listPods"] },
  { what: "the name of a query parameter", path: [8, 2, 2, 2, 8, 1, 2, 3, 4], holds: ["limit"] },
  { what: "the name of a path parameter", path: [8, 2, 2, 2, 8, 1, 2, 4, 4], holds: ["name"] },
  { what: "the type of the body", path: [8, 2, 2, 2, 8, 1, 1, 5, 1], holds: ["#/definitions/Pod"] },
  { what: "the code of an answer", path: [8, 2, 2, 2, 9, 1, 1], holds: ["200"] },
  { what: "the type of an answer", path: [8, 2, 2, 2, 9, 1, 2, 1, 2, 1, 1], holds: ["#/definitions/Pod"] },
  { what: "an extension's name", path: [8, 2, 2, 2, 13, 1], holds: ["x-kubernetes-action"] },
  { what: "an extension's value as YAML", path: [8, 2, 2, 2, 13, 2, 2], holds: ['"list"\n'] },
  { what: "a definition's name", path: [9, 1, 1], holds: ["Pod"] },
  { what: "what is required", path: [9, 1, 2, 19], holds: ["spec"] },
  { what: "the properties", path: [9, 1, 2, 25, 1, 1], holds: ["spec", "labels"] },
  { what: "a property's description", path: [9, 1, 2, 25, 1, 2, 4], holds: ["Wanted."] },
  { what: "the types of properties", path: [9, 1, 2, 25, 1, 2, 22, 1], holds: ["array", "object"] },
  { what: "the type of a list's items", path: [9, 1, 2, 25, 1, 2, 23, 1, 22, 1], holds: ["string"] },
  { what: "an enumeration's values", path: [9, 1, 2, 25, 1, 2, 23, 1, 20, 2], holds: ['"a"\n'] },
  { what: "the type of a map's values", path: [9, 1, 2, 25, 1, 2, 21, 1, 22, 1], holds: ["string"] },
  { what: "what security is required", path: [12, 1, 1], holds: ["BearerToken"] },
  { what: "the location of the token", path: [13, 1, 2, 2, 3], holds: ["header"] },
];

for (const { what, path, holds } of rows) {
  test(`a client with gnostic's messages decodes ${what}`, () => {
    deepEqual(
      at(bytes, ...path).map((found) => new TextDecoder().decode(found)),
      holds,
    );
  });
}
