/**
 * Strict decoding, for every kind that is served: unknown and duplicate members are inserted at random in the text of a random object, and
 * exactly those that upstream's decoder inspects must be reported, with their paths and in document order.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../testing/rounds.ts";
import { all } from "./all.ts";
import { decodeBySchema, type Decoded } from "./machinery/codec/decode.ts";
import { parseJson, writeJson } from "./machinery/codec/json.ts";
import { mistakeSentences } from "./machinery/codec/strict.ts";
import { objectOf } from "./machinery/codec/testing/arbitrary.ts";
import { apiVersionOf, type Json, type JsonObject } from "./machinery/object.ts";
import type { ObjectSchema, Schema } from "./machinery/schema.ts";
import { schemaOf } from "./schemas.ts";

interface Root {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: ObjectSchema;
}

const ROOTS: readonly Root[] = all.flatMap(({ kind, served }) =>
  served.map((version) => ({ apiVersion: apiVersionOf(version), kind, schema: schemaOf(version.schema) })),
);

/**
 * A document before serialization. How upstream's decoder treats an object: of a "struct" it knows the fields, of a "map" it checks
 * duplicate keys only, and "unseen" ones are not inspected.
 */
type Node =
  | { readonly form: "struct" | "map" | "unseen"; readonly members: Member[] }
  | { readonly form: "list"; readonly items: readonly Node[] }
  | { readonly form: "leaf"; readonly text: string };

interface Member {
  readonly name: string;
  readonly value: Node;
  readonly isUnknown?: true;
}

type ObjectNode = Extract<Node, { readonly members: Member[] }>;

function nodeOf(value: Json, schema: Schema | undefined): Node {
  if (Array.isArray(value)) {
    const items = schema?.type === "list" ? schema.items : undefined;
    return { form: "list", items: (value as readonly Json[]).map((item) => nodeOf(item, items)) };
  }
  if (typeof value !== "object" || value === null) return { form: "leaf", text: writeJson(value) };
  const form = schema?.type === "object" ? "struct" : schema?.type === "map" ? "map" : "unseen";
  const members = Object.entries(value as Readonly<Record<string, Json>>);
  return { form, members: members.map(([name, member]) => ({ name, value: nodeOf(member, schemaOfMember(name, schema)) })) };
}

function schemaOfMember(name: string, schema: Schema | undefined): Schema | undefined {
  if (schema?.type === "map") return schema.values;
  return schema?.type === "object" ? schema.fields.get(name)?.schema : undefined;
}

function objectsIn(node: Node): ObjectNode[] {
  if (node.form === "leaf") return [];
  if (node.form === "list") return node.items.flatMap(objectsIn);
  // Members of an unknown member are not inspected, in any form.
  return [node, ...node.members.filter(({ isUnknown }) => isUnknown !== true).flatMap(({ value }) => objectsIn(value))];
}

/** Names of unknown fields: other cases of real ones, names that JavaScript has or moves to the front, names that must be escaped. */
const UNKNOWN_NAMES = ["planted", "7", "Metadata", "SPEC", "__proto__", "constructor", 'a"b', "\\n", "é"];
/** Upstream does not inspect unknown fields, so duplicates in here are not reported. */
const UNKNOWN_VALUES = ["null", "1", '"x"', "[{}]", '{"a":1,"a":{"b":1,"b":2}}', "9007199254740993"];

const plants = fc.array(
  fc.record({
    what: fc.constantFrom("unknown", "duplicate"),
    form: fc.constantFrom("struct", "struct", "map", "unseen"),
    /** Index of the object of this form, of its member, and of the position among them, modulo their number. */
    object: fc.nat(),
    member: fc.nat(),
    before: fc.nat(),
    name: fc.constantFrom(...UNKNOWN_NAMES),
    text: fc.constantFrom(...UNKNOWN_VALUES),
    isNullFirst: fc.boolean(),
  }),
  { maxLength: 6 },
);
type Plant = typeof plants extends fc.Arbitrary<readonly (infer P)[]> ? P : never;

function plantIn(root: Node, plant: Plant): void {
  const objects = objectsIn(root).filter(({ form }) => form === plant.form);
  const { members } = objects[plant.object % objects.length] as ObjectNode;
  if (plant.what === "unknown" && plant.form === "struct") {
    const unknown: Member = { name: plant.name, value: { form: "leaf", text: plant.text }, isUnknown: true };
    members.splice(plant.before % (members.length + 1), 0, unknown);
  } else if (plant.what === "duplicate" && members.length > 0) {
    // The same value or none, before the member itself: the last one counts.
    const at = plant.member % members.length;
    const { value, ...rest } = members[at] as Member;
    const earlier: Member = { ...rest, value: plant.isNullFirst ? { form: "leaf", text: "null" } : structuredClone(value) };
    members.splice(plant.before % (at + 1), 0, earlier);
  }
}

/** Serializes the document, and adds to `sentences` the expected errors, each once. */
function write(node: Node, sentences: Set<string>, path = ""): string {
  if (node.form === "leaf") return node.text;
  if (node.form === "list") return `[${node.items.map((item, index) => write(item, sentences, `${path}[${index}]`)).join(",")}]`;
  const named = new Set<string>();
  const members = node.members.map(({ name, value, isUnknown }) => {
    const place = path === "" ? name : `${path}.${name}`;
    if (isUnknown === true) sentences.add(`unknown field ${JSON.stringify(place)}`);
    else if (named.has(name) && node.form !== "unseen") sentences.add(`duplicate field ${JSON.stringify(place)}`);
    named.add(name);
    return `${JSON.stringify(name)}:${write(value, sentences, place)}`;
  });
  return `{${members.join(",")}}`;
}

function decode(text: string, schema: ObjectSchema): Decoded & { readonly sentences: readonly string[] } {
  const body = new TextEncoder().encode(text);
  const { value, duplicates } = parseJson(body);
  const decoded = decodeBySchema(value, schema);
  return { ...decoded, sentences: mistakeSentences({ body, schema, duplicates, unknownFields: decoded.unknownFields }) };
}

/** Random, but always with a map and with free-form values, which are rare. */
function objectsOf({ apiVersion, kind, schema }: Root): fc.Arbitrary<Json> {
  return objectOf(schema, { percent: 25, depthMax: 5 }).map((random) => {
    const owner = { manager: "m", fieldsV1: { "f:data": { ".": {}, "f:a": {} } } };
    const metadata = { labels: { a: "b" }, ...(random["metadata"] as JsonObject | undefined), managedFields: [owner] };
    return decodeBySchema({ apiVersion, kind, ...random, metadata }, schema).object;
  });
}

for (const root of ROOTS) {
  const { apiVersion, kind, schema } = root;
  test(`strict decoding of a ${kind} (${apiVersion}) reports exactly the inserted mistakes and does not change the object`, () => {
    fc.assert(
      fc.property(objectsOf(root), plants, (object, planted) => {
        const document = nodeOf(object, schema);
        for (const plant of planted) plantIn(document, plant);
        const expected = new Set<string>();

        const found = decode(write(document, expected), schema);

        assert.deepEqual(found.sentences, [...expected]);
        assert.deepEqual(found.object, object);
        assert.equal(decodeBySchema(found.object, schema).object, found.object);
      }),
      { numRuns: rounds({ quick: 20, full: 200 }), seed: testSeed() },
    );
  });
}

test("64-bit integers keep all digits between parsing and serialization, in every kind", () => {
  const beyond53Bits = fc.oneof(
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
    fc.constantFrom(2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...ROOTS), beyond53Bits, fc.boolean(), ({ schema }, generation, isPlanted) => {
      const { object } = decode(`{"metadata":{"generation":${generation}${isPlanted ? ',"planted":1' : ""}}}`, schema);

      assert.ok(writeJson((object as JsonObject)["metadata"]).includes(`"generation":${generation}`));
    }),
    { numRuns: rounds({ quick: 100, full: 10_000 }), seed: testSeed() },
  );
});
