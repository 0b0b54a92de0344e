import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { deepFreeze } from "../../../base/deep.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type { Json, JsonObject } from "../object.ts";
import type { Field, ObjectSchema, Schema } from "../schema.ts";
import { applyStrategicMergePatch, strategicMergePatchOf } from "./strategic-merge.ts";
import { anyJsonObject } from "./testing/any-json.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) };

// ── a type with each kind of field ──────────────────────────────────────────────────────────────────

const text: Schema = { type: "string" };

function struct(name: string, fields: readonly Field[]): ObjectSchema {
  return { type: "object", name: `example.v1.${name}`, fields: new Map(fields.map((field) => [field.name, field])), required: [] };
}

function plain(name: string, schema: Schema): Field {
  return { name, schema, zero: "keep" };
}

function listOf(items: Schema): Schema {
  return { type: "list", items, listType: "atomic" };
}

const item = struct("Item", [
  plain("name", text),
  plain("value", text),
  { ...plain("tags", listOf(text)), patchStrategy: ["merge"] },
  plain("source", struct("Source", [plain("file", text), plain("url", text)])),
]);

const thing = struct("Thing", [
  plain("title", text),
  { ...plain("items", listOf(item)), patchStrategy: ["merge", "retainKeys"], patchMergeKey: "name" },
  { ...plain("keyless", listOf(item)), patchStrategy: ["merge"] },
  { ...plain("tags", listOf(text)), patchStrategy: ["merge"] },
  plain("words", listOf(text)),
  plain("matrix", listOf(listOf(text))),
  plain("labels", { type: "map", values: text }),
  plain("groups", { type: "map", values: { type: "map", values: text } }),
  plain("settings", struct("Settings", [plain("mode", text), plain("level", { type: "integer", format: "int32" })])),
  { ...plain("whole", struct("Settings", [plain("mode", text)])), patchStrategy: ["replace"] },
  plain("raw", { type: "any", format: "raw-extension" }),
]);

function patched(document: JsonObject, patch: JsonObject): JsonObject {
  return applyStrategicMergePatch(deepFreeze(document), deepFreeze(patch), thing);
}

function named(...names: readonly string[]): JsonObject[] {
  return names.map((name) => ({ name }));
}

interface Row {
  readonly title: string;
  readonly document: JsonObject;
  readonly patch: JsonObject;
  readonly result: JsonObject;
}

const rows: readonly Row[] = [
  {
    title: "scalars are replaced, null removes",
    document: { title: "a", x: 1 },
    patch: { title: "b", x: null, y: null },
    result: { title: "b" },
  },
  {
    title: "objects and maps merge",
    document: { labels: { a: "1", b: "2" } },
    patch: { labels: { b: "3", c: "4" } },
    result: { labels: { a: "1", b: "3", c: "4" } },
  },
  { title: "nulls in what is new are dropped", document: {}, patch: { labels: { a: null, b: "1" } }, result: { labels: { b: "1" } } },
  { title: "a list without a strategy is replaced", document: { words: ["a"] }, patch: { words: ["b"] }, result: { words: ["b"] } },
  {
    title: "an object whose strategy is to be replaced is",
    document: { whole: { mode: "a", x: 1 } },
    patch: { whole: { mode: "b" } },
    result: { whole: { mode: "b" } },
  },
  { title: "unknown fields are kept", document: { unknown: 1 }, patch: { other: { a: 1 } }, result: { unknown: 1, other: { a: 1 } } },
  {
    title: "an object that takes a scalar's place is new",
    document: { settings: "text" },
    patch: { settings: { mode: "a", level: null } },
    result: { settings: { mode: "a" } },
  },
  // $patch
  {
    title: "$patch: replace",
    document: { labels: { a: "1" } },
    patch: { labels: { $patch: "replace", b: "2" } },
    result: { labels: { b: "2" } },
  },
  { title: "$patch: delete", document: { labels: { a: "1" } }, patch: { labels: { $patch: "delete" } }, result: { labels: {} } },
  { title: "$patch in something that is not there", document: {}, patch: { labels: { $patch: "delete" } }, result: {} },
  {
    title: "$patch: delete of an item",
    document: { items: named("a", "b") },
    patch: { items: [{ name: "a", $patch: "delete" }] },
    result: { items: named("b") },
  },
  {
    title: "$patch: replace of a list",
    document: { items: named("a", "b") },
    patch: { items: [{ $patch: "replace" }, { name: "c" }] },
    result: { items: named("c") },
  },
  // lists by key
  {
    title: "items merge by key and keep their place",
    document: {
      items: [
        { name: "a", value: "1" },
        { name: "b", value: "2" },
      ],
    },
    patch: { items: [{ name: "b", source: { url: "u" } }] },
    result: {
      items: [
        { name: "a", value: "1" },
        { name: "b", value: "2", source: { url: "u" } },
      ],
    },
  },
  {
    title: "new items come before those that only the server has",
    document: { items: named("a", "b") },
    patch: { items: named("x") },
    result: { items: named("x", "a", "b") },
  },
  {
    title: "items of the patch keep their order",
    document: { items: named("a", "b", "c") },
    patch: { items: named("c", "a") },
    result: { items: named("b", "c", "a") },
  },
  {
    title: "lists inside of items merge too",
    document: { items: [{ name: "a", tags: ["x"] }] },
    patch: { items: [{ name: "a", tags: ["y"] }] },
    result: { items: [{ name: "a", tags: ["y", "x"] }] },
  },
  // lists of scalars
  { title: "scalars are a set", document: { tags: ["a", "b"] }, patch: { tags: ["b", "c", "c"] }, result: { tags: ["a", "b", "c"] } },
  {
    title: "$deleteFromPrimitiveList",
    document: { tags: ["a", "b", "c"] },
    patch: { "$deleteFromPrimitiveList/tags": ["b", "x"] },
    result: { tags: ["a", "c"] },
  },
  {
    title: "$deleteFromPrimitiveList of a list that is not there",
    document: {},
    patch: { "$deleteFromPrimitiveList/tags": ["b"] },
    result: {},
  },
  // $retainKeys
  {
    title: "$retainKeys",
    document: { items: [{ name: "a", value: "1", source: { file: "f" } }] },
    patch: { items: [{ name: "a", $retainKeys: ["name", "source"], source: { url: "u" } }] },
    result: { items: [{ name: "a", source: { file: "f", url: "u" } }] },
  },
  // $setElementOrder
  {
    title: "$setElementOrder alone",
    document: { items: named("a", "b", "c") },
    patch: { "$setElementOrder/items": named("c", "a") },
    result: { items: named("b", "c", "a") },
  },
  {
    title: "$setElementOrder with new items",
    document: { items: named("a", "server", "b") },
    patch: { "$setElementOrder/items": named("b", "new", "a"), items: named("new") },
    result: { items: named("server", "b", "new", "a") },
  },
  {
    title: "$setElementOrder with a deleted and an added item",
    document: { items: named("a", "b", "server") },
    patch: { "$setElementOrder/items": named("b", "new"), items: [{ name: "new" }, { name: "a", $patch: "delete" }] },
    result: { items: named("b", "server", "new") },
  },
  {
    title: "$setElementOrder of scalars",
    document: { tags: ["a", "b", "c"] },
    patch: { "$setElementOrder/tags": ["c", "x", "a"], tags: ["x"] },
    result: { tags: ["b", "c", "x", "a"] },
  },
  { title: "$setElementOrder of a missing list", document: {}, patch: { "$setElementOrder/tags": ["a"] }, result: {} },
];

for (const { title, document, patch, result } of rows) {
  test(`strategic merge: ${title}`, () => {
    deepEqual(patched(document, patch), result);
  });
}

test("strategic merge treats members named like JavaScript's own as members", () => {
  const document = JSON.parse('{"labels":{"__proto__":"a"}}') as JsonObject;
  const patch = JSON.parse('{"labels":{"constructor":"b","toString":null},"__proto__":{"x":1}}') as JsonObject;

  equal(JSON.stringify(patched(document, patch)), '{"labels":{"__proto__":"a","constructor":"b"},"__proto__":{"x":1}}');
});

// ── errors ────────────────────────────────────────────────────────────────────────────────────────

const MALFORMED = { reason: "BadRequest", code: 400 };
const UNTRANSLATED = { reason: "Unknown", code: 500 };
const DOES_NOT_FIT = { reason: "Invalid", code: 422, message: "the server rejected our request due to an error in our request" };

const refusals: readonly (readonly [patch: JsonObject, answer: object])[] = [
  [{ items: [{ value: "1" }] }, { ...UNTRANSLATED, message: "map: map[value:1] does not contain declared merge key: name" }],
  [{ items: [{ $patch: "delete" }] }, { ...UNTRANSLATED, message: "map: map[$patch:delete] does not contain declared merge key: name" }],
  [{ items: [{ $patch: "merge" }] }, { ...UNTRANSLATED, message: "merging lists cannot yet be specified in the patch" }],
  [{ items: ["a"] }, { ...UNTRANSLATED, message: "list element types are not identical: [[map[name:a]] [a]]" }],
  [{ keyless: [{ name: "a" }] }, { ...UNTRANSLATED, message: "cannot merge lists without merge key for struct" }],
  [{ labels: { $patch: "mix" } }, { ...UNTRANSLATED, message: "unknown patch type: mix in map: map[$patch:mix]" }],
  [{ groups: { a: { b: "c" } } }, { ...UNTRANSLATED, message: "merging an object in json but data type is not struct, instead is: map" }],
  [{ unknown: { a: 1 } }, { ...UNTRANSLATED, message: 'unable to find api field in struct Thing for the json field "unknown"' }],
  [{ raw: { deep: { a: 1 } } }, { ...UNTRANSLATED, message: 'unable to find api field in struct RawExtension for the json field "deep"' }],
  [{ matrix: [["b"]] }, { ...UNTRANSLATED, message: "unexpected slice of slice" }],
  [{ "$setElementOrder/items": "a" }, { ...UNTRANSLATED, message: "expected a []interface {}, but received a string" }],
  [
    { "$setElementOrder/items": named("x"), items: named("y") },
    { ...UNTRANSLATED, message: "The order in patch list:\n[map[name:y]]\n doesn't match $setElementOrder list:\n[map[name:x]]\n" },
  ],
  [{ $setElementOrder: [] }, { ...MALFORMED, message: "invalid patch format of setElementOrder list" }],
  [{ $deleteFromPrimitiveList: [] }, { ...MALFORMED, message: "invalid patch format of primitive list" }],
  [
    { $retainKeys: ["title"], labels: {} },
    { ...MALFORMED, message: "invalid patch format of retainKeys" },
  ],
  [{ $retainKeys: "title" }, { ...MALFORMED, message: "invalid patch format of retainKeys" }],
  [{ "$deleteFromPrimitiveList/lists": ["a"] }, DOES_NOT_FIT],
];

for (const [patch, answer] of refusals) {
  test(`strategic merge rejects ${JSON.stringify(patch)} as upstream does`, () => {
    const document: JsonObject = {
      items: named("a"),
      keyless: named("a"),
      groups: { a: { b: "1" } },
      labels: {},
      unknown: {},
      raw: { deep: {} },
      matrix: [["a"]],
      lists: [["a"]],
    };
    const withLists = struct("Thing", [...thing.fields.values(), plain("lists", listOf(text))]);

    throws(() => applyStrategicMergePatch(document, patch, withLists), answer);
  });
}

test("a strategic merge patch that is no object is a BadRequest, and null changes nothing", () => {
  deepEqual(strategicMergePatchOf(null), {});
  throws(() => strategicMergePatchOf([]), {
    ...MALFORMED,
    message: "json: cannot unmarshal array into Go value of type map[string]interface {}",
  });
});

// ── properties ─────────────────────────────────────────────────────────────────────────────

const names = ["a", "b", "c", "d"];
const anyText = fc.constantFrom("1", "2");
const tags = fc.shuffledSubarray(names);
const scalars = { title: anyText, words: fc.array(anyText), labels: fc.dictionary(fc.constantFrom("x", "__proto__"), anyText) };

function withKeys(members: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject[]> {
  return fc.shuffledSubarray(names).chain((keys) => fc.tuple(...keys.map((name) => members.map((others) => ({ name, ...others })))));
}

function some(members: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [], noNullPrototype: true });
}

const anyThing = some({ ...scalars, tags, items: withKeys(some({ value: anyText, tags })) });

const anyPatch = some({
  ...scalars,
  title: fc.option(anyText),
  tags,
  settings: fc.constantFrom<Json>({ mode: "m" }, { $patch: "replace", level: 1 }, { $patch: "delete" }, null),
  items: withKeys(fc.oneof(some({ value: fc.option(anyText), tags }), fc.constant({ $patch: "delete" }))),
});

test("a strategic merge without element orders is idempotent", () => {
  fc.assert(
    fc.property(anyThing, anyPatch, (document, patch) => {
      const once = patched(document, patch);
      const twice = patched(once, patch);

      deepEqual(withoutNullMembers(twice), withoutNullMembers(once));
    }),
    settings,
  );
});

/** As decoding does: items that are new as a whole are taken unchanged, with their nulls, which delete in the second application. */
function withoutNullMembers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_name, member: unknown) => (member === null ? undefined : member)));
}

test("items listed in $setElementOrder have that order, and those of the server alone keep theirs", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(names), fc.shuffledSubarray(names, { minLength: 1 }), (present, wanted) => {
      const patch = { "$setElementOrder/items": named(...wanted), items: named(...wanted), "$setElementOrder/tags": wanted, tags: wanted };

      const result = patched({ items: named(...present), tags: present }, patch) as { items: { name: string }[]; tags: string[] };

      for (const list of [result.items.map(({ name }) => name), result.tags]) {
        const isWanted = (name: string): boolean => wanted.includes(name);
        deepEqual(list.filter(isWanted), wanted);
        deepEqual(
          list.filter((name) => !isWanted(name)),
          present.filter((name) => !isWanted(name)),
        );
      }
    }),
    settings,
  );
});

test("untouched parts are the document's own, and a patch without changes returns the document", () => {
  fc.assert(
    fc.property(anyThing, anyJsonObject, (others, raw) => {
      const document: JsonObject = { ...others, settings: { mode: "m" }, untouched: { raw } };

      const changed = patched(document, { settings: { mode: "n" } });

      deepEqual(changed["settings"], { mode: "n" });
      for (const name of Object.keys(document)) if (name !== "settings") equal(changed[name], document[name]);
      equal(patched(document, { settings: { mode: "m", level: null }, missing: null }), document);
    }),
    settings,
  );
});

test("items that a patch does not name keep their identity, and so does an unchanged list", () => {
  const document = deepFreeze({
    items: [
      { name: "a", source: { url: "u" } },
      { name: "b", value: "1" },
    ],
    tags: ["x", "y"],
  });

  const changed = patched(document, { items: [{ name: "b", value: "2" }] }) as typeof document;
  const same = patched(document, { items: [{ name: "a" }, { name: "b", value: "1" }], "$setElementOrder/tags": ["x", "y"], tags: ["x"] });

  equal(changed.items[0], document.items[0]);
  equal(changed.tags, document.tags);
  equal(same, document);
});
