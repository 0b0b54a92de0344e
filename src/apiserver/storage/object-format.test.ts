import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json, KubeObject } from "../../api/machinery/object.ts";
import { writeJson } from "../../api/machinery/codec/json.ts";
import { testSeed } from "../../testing/rounds.ts";
import { ObjectFormat } from "./object-format.ts";

const format = new ObjectFormat({ apiVersion: "example.com/v1", kind: "Widget" });

/** Keys that are special in JavaScript or in this format, and any others. */
const key = fc.oneof(
  fc.constantFrom("managedFields", "__proto__", "constructor", "metadata", "resourceVersion", ',"managedFields":[', '"', "\\"),
  fc.string({ unit: "binary" }),
);

const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, 9_007_199_254_740_993n, -(2n ** 63n), 2n ** 63n - 1n),
    fc.string({ unit: "binary" }),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie("json")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).json;

const texts = fc.array(fc.tuple(key, fc.string({ unit: "binary" })), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));

const anyObject: fc.Arbitrary<KubeObject> = fc
  .tuple(fc.string({ minLength: 1 }), texts, texts, fc.array(fc.tuple(key, json), { maxLength: 4 }))
  .map(([name, labels, annotations, members]) => {
    const rest = members.filter(([member]) => !["metadata", "kind", "apiVersion"].includes(member));
    const fixed = { kind: "Widget", apiVersion: "example.com/v1", metadata: { name, labels, annotations } };
    return { ...fixed, ...Object.fromEntries(rest) };
  });

const anyClaims = fc.array(
  fc.record({ manager: fc.string({ unit: "binary" }), fieldsV1: fc.dictionary(key, fc.constant({})).map((fields) => ({ "f:[": fields })) }),
  { maxLength: 3 },
);

test("an encoded object is decoded unchanged, with the text of managedFields beside it", () => {
  fc.assert(
    fc.property(anyObject, anyClaims, (object, claims) => {
      const managedFields = claims.length === 0 ? "" : JSON.stringify(claims);

      const read = format.read(format.write(object, managedFields));

      assert.deepEqual(read.object, object);
      assert.equal(read.managedFields, managedFields);
    }),
    { seed: testSeed(), numRuns: 500 },
  );
});

test("bytes of another layout decode to the same object, and are converted to ours", () => {
  fc.assert(
    fc.property(anyObject, anyClaims, (object, claims) => {
      const { kind, apiVersion, metadata, ...rest } = object;
      const foreign = { ...rest, metadata: { managedFields: claims, ...metadata }, apiVersion, kind };
      const bytes = new TextEncoder().encode(writeJson(foreign));

      const normal = format.normalise(bytes);

      assert.deepEqual(normal, format.write(object, JSON.stringify(claims)));
    }),
    { seed: testSeed(), numRuns: 200 },
  );
});

test("the head with a resourceVersion fits before the stored bytes, in an object and in an item of a list", () => {
  const object = { kind: "Widget", apiVersion: "example.com/v1", metadata: { name: "a", resourceVersion: "3" }, spec: { é: "ü" } };
  const tail = new TextDecoder().decode(format.write(object, '[{"manager":"m"}]').subarray(format.headLength));

  const metadata = { resourceVersion: "7", name: "a", managedFields: [{ manager: "m" }] };
  assert.deepEqual(JSON.parse(format.headAt(7) + tail), { ...object, metadata });
  assert.deepEqual(JSON.parse(format.itemHeadAt(7) + tail), { metadata, spec: object.spec });
  assert.equal(JSON.parse(format.headAt(0) + tail).metadata.resourceVersion, undefined);
});

test("decoding never changes a prototype", () => {
  const text =
    '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a","labels":{"__proto__":"x"}},"__proto__":{"polluted":true}}';

  const { object } = format.read(new TextEncoder().encode(text));

  assert.equal((object as { polluted?: boolean }).polluted, undefined);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.equal(new TextDecoder().decode(format.write(object, "")), text);
});

test("HTML characters are escaped, as Go's encoder does", () => {
  const text = format.writeText(
    { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, data: "a && <b>" } as KubeObject,
    "",
  );

  assert.equal(
    text,
    String.raw`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"},"data":"a \u0026\u0026 \u003cb\u003e"}`,
  );
});
