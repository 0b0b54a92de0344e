import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { deepFreeze } from "../../../base/deep.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type { Json } from "../object.ts";
import { isReason, StatusError, type Reason } from "../status-error.ts";
import {
  applyJsonPatch,
  JSON_PATCH_COPY_BYTES_MAX,
  JSON_PATCH_MOVED_ITEMS_MAX,
  JSON_PATCH_OPERATIONS_MAX,
  unknownJsonPatchFields,
} from "./json-patch.ts";
import { anyJson, anyJsonObject } from "./testing/any-json.ts";
import {
  applyPlainly,
  differenceOf,
  isRelated,
  operationsFor,
  patchOf,
  placesIn,
  settingsFor,
  valueAt,
  type Operation,
} from "./testing/reference-json-patch.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) };

function parsed(text: string): Json {
  return deepFreeze(JSON.parse(text) as Json);
}

interface Row {
  readonly title: string;
  readonly document: string;
  readonly patch: string;
  readonly result: string;
}

const rows: readonly Row[] = [
  // RFC 6902, appendix A.
  {
    title: "A.1: a member is added",
    document: '{"foo":"bar"}',
    patch: '[{"op":"add","path":"/baz","value":"qux"}]',
    result: '{"foo":"bar","baz":"qux"}',
  },
  {
    title: "A.2: an item is added",
    document: '{"foo":["bar","baz"]}',
    patch: '[{"op":"add","path":"/foo/1","value":"qux"}]',
    result: '{"foo":["bar","qux","baz"]}',
  },
  {
    title: "A.3: a member is removed",
    document: '{"baz":"qux","foo":"bar"}',
    patch: '[{"op":"remove","path":"/baz"}]',
    result: '{"foo":"bar"}',
  },
  {
    title: "A.4: an item is removed",
    document: '{"foo":["bar","qux","baz"]}',
    patch: '[{"op":"remove","path":"/foo/1"}]',
    result: '{"foo":["bar","baz"]}',
  },
  {
    title: "A.5: a value is replaced",
    document: '{"baz":"qux","foo":"bar"}',
    patch: '[{"op":"replace","path":"/baz","value":"boo"}]',
    result: '{"baz":"boo","foo":"bar"}',
  },
  {
    title: "A.6: a value is moved",
    document: '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
    patch: '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
    result: '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
  },
  {
    title: "A.7: an item is moved",
    document: '{"foo":["all","grass","cows","eat"]}',
    patch: '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
    result: '{"foo":["all","cows","eat","grass"]}',
  },
  {
    title: "A.8: tests that succeed change nothing",
    document: '{"baz":"qux","foo":["a",2,"c"]}',
    patch: '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
    result: '{"baz":"qux","foo":["a",2,"c"]}',
  },
  {
    title: "A.10: an object is added",
    document: '{"foo":"bar"}',
    patch: '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
    result: '{"foo":"bar","child":{"grandchild":{}}}',
  },
  {
    title: "A.11: unknown members are ignored",
    document: '{"foo":"bar"}',
    patch: '[{"op":"add","path":"/baz","value":"qux","xyz":123}]',
    result: '{"foo":"bar","baz":"qux"}',
  },
  {
    title: "A.14: escapes are read in the right order",
    document: '{"/":9,"~1":10}',
    patch: '[{"op":"test","path":"/~01","value":10}]',
    result: '{"/":9,"~1":10}',
  },
  {
    title: "A.16: a list is added as one item",
    document: '{"foo":["bar"]}',
    patch: '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
    result: '{"foo":["bar",["abc","def"]]}',
  },
  // Deviations and extensions of upstream's library.
  {
    title: "a slash is written ~1",
    document: '{"a":{}}',
    patch: '[{"op":"add","path":"/a/x~1y~0z","value":1}]',
    result: '{"a":{"x/y~z":1}}',
  },
  {
    title: "a negative index counts from the end",
    document: "[1,2,3]",
    patch: '[{"op":"replace","path":"/-1","value":9},{"op":"remove","path":"/-3"}]',
    result: "[2,9]",
  },
  { title: "an item is added behind the last by -1", document: "[1,2]", patch: '[{"op":"add","path":"/-1","value":3}]', result: "[1,2,3]" },
  { title: "a replaced member need not be there", document: "{}", patch: '[{"op":"replace","path":"/a","value":1}]', result: '{"a":1}' },
  { title: "an added value may be left out", document: "{}", patch: '[{"op":"add","path":"/a"}]', result: '{"a":null}' },
  { title: "a copy of nothing is null", document: "{}", patch: '[{"op":"copy","from":"/a","path":"/b"}]', result: '{"b":null}' },
  { title: "a test for null holds for what is missing", document: "{}", patch: '[{"op":"test","path":"/a","value":null}]', result: "{}" },
  { title: "the whole document is replaced", document: '{"a":1}', patch: '[{"op":"replace","path":"","value":[1]}]', result: "[1]" },
  { title: "the whole document is tested", document: '{"a":1}', patch: '[{"op":"test","path":"","value":{"a":1}}]', result: '{"a":1}' },
  {
    title: "what stands before the first slash does not matter",
    document: '{"a":1}',
    patch: '[{"op":"remove","path":"x/a"}]',
    result: "{}",
  },
  { title: "an empty name is a name", document: '{"":{"":1}}', patch: '[{"op":"replace","path":"//","value":2}]', result: '{"":{"":2}}' },
  { title: "null is an empty patch", document: '{"a":1}', patch: "null", result: '{"a":1}' },
  {
    title: "a copy and its original are changed apart",
    document: '{"a":{"x":[1]}}',
    patch:
      '[{"op":"add","path":"/a/x/-","value":2},{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/x/-","value":3},{"op":"add","path":"/a/y","value":4}]',
    result: '{"a":{"x":[1,2],"y":4},"b":{"x":[1,2,3]}}',
  },
  {
    title: "names of JavaScript are members like others",
    document: '{"a":{}}',
    patch:
      '[{"op":"add","path":"/a/__proto__","value":{"x":1}},{"op":"add","path":"/a/__proto__/y","value":2},{"op":"add","path":"/a/constructor","value":3}]',
    result: '{"a":{"__proto__":{"x":1,"y":2},"constructor":3}}',
  },
];

for (const { title, document, patch, result } of rows) {
  test(`JSON patch, ${title}`, () => {
    deepEqual(applyJsonPatch(parsed(document), parsed(patch)), JSON.parse(result));
    equal(Object.hasOwn(Object.prototype, "y"), false);
  });
}

const DOES_NOT_FIT = "the server rejected our request due to an error in our request";

interface Refusal {
  readonly patch: string;
  readonly reason: Reason;
  readonly message: string;
  readonly cause?: string;
}

const refusals: readonly Refusal[] = [
  {
    patch: "{}",
    reason: "BadRequest",
    message: "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  },
  {
    patch: "[5]",
    reason: "BadRequest",
    message: "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
  },
  {
    patch: '[{"op":true}]',
    reason: "BadRequest",
    message: "error decoding patch: json: cannot unmarshal bool into Go struct field jsonPatchOp.op of type string",
  },
  ...[
    ['[{"op":"test","path":"/a","value":2}]', "testing value /a failed: test failed"],
    ['[{"op":"test","path":"/a"}]', "testing value /a failed: test failed"],
    ['[{"op":"test","path":"/x/y","value":2}]', "test operation does not apply: is missing path: /x/y: missing value"],
    ['[{"op":"remove","path":"/x"}]', "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"],
    [
      '[{"op":"remove","path":"/constructor"}]',
      "error in remove for path: '/constructor': Unable to remove nonexistent key: constructor: missing value",
    ],
    [
      '[{"op":"remove","path":"/list/3"}]',
      "error in remove for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      '[{"op":"add","path":"/list/4","value":1}]',
      "error in add for path: '/list/4': Unable to access invalid index: 4: invalid index referenced",
    ],
    ['[{"op":"add","path":"","value":1}]', 'add operation does not apply: doc is missing path: "": missing value'],
    ['[{"op":"add","path":"/a/b","value":1}]', 'add operation does not apply: doc is missing path: "/a/b": missing value'],
    ['[{"op":"add","path":"/__proto__/b","value":1}]', 'add operation does not apply: doc is missing path: "/__proto__/b": missing value'],
    ['[{"op":"replace","path":"/list/3","value":1}]', "replace operation does not apply: doc is missing key: /list/3: missing value"],
    ['[{"op":"replace","path":"","value":1}]', "replace operation value must be object or array"],
    ['[{"op":"move","from":"/o","path":"/o/p"}]', "move operation does not apply: doc is missing destination path: /o/p: missing value"],
    ['[{"op":"move","path":"/o/p"}]', "move operation failed to decode from: missing value"],
    ['[{"op":"add","value":1}]', "add operation failed to decode path: missing value"],
    ['[{"op":"jump","path":"/a"}]', "Unexpected kind: jump"],
    ["[null]", "Unexpected kind: unknown"],
  ].map(([patch = "", cause = ""]): Refusal => ({ patch, reason: "Invalid", message: DOES_NOT_FIT, cause })),
];

test("a malformed JSON patch is a BadRequest, one that does not apply is Invalid, both with upstream's messages", () => {
  const document = parsed('{"a":1,"list":[1,2,3],"o":{}}');
  const answers = refusals.map(({ patch }) => answerTo(() => applyJsonPatch(document, parsed(patch))));

  deepEqual(
    answers,
    refusals.map(({ reason, message, cause }) => ({ reason, message, cause })),
  );
});

function answerTo(apply: () => Json): { reason: string; message: string; cause: string | undefined } {
  try {
    return { reason: "none", message: JSON.stringify(apply()), cause: undefined };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { reason: error.reason, message: error.message, cause: (error.cause as Error | undefined)?.message };
  }
}

test("a JSON patch with too many operations is rejected as too large", () => {
  const operation = { op: "test", path: "/a", value: 1 };
  const allowed = Array.from({ length: JSON_PATCH_OPERATIONS_MAX }, () => operation);

  deepEqual(applyJsonPatch({ a: 1 }, allowed), { a: 1 });
  throws(() => applyJsonPatch({ a: 1 }, [...allowed, operation]), {
    code: 413,
    message: "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
  });
});

test("a JSON patch that moves too many list items is rejected as too large, by any operation", () => {
  const length = JSON_PATCH_MOVED_ITEMS_MAX / 100;
  const document = { list: Array.from({ length }, () => 1) };
  const times = <T>(count: number, operation: T): T[] => Array.from({ length: count }, () => operation);
  const first = { op: "add", path: "/list/0", value: 1 };

  // The n-th insert moves n - 1 items more than the list had.
  throws(() => applyJsonPatch(document, times(101, first)), {
    code: 413,
    message: /^Request entity too large: The allowed maximum of list items that a JSON patch moves is 20000000, got 20\d{6}$/,
  });
  throws(() => applyJsonPatch(document, times(102, { op: "remove", path: "/list/0" })), { code: 413 });
  throws(() => applyJsonPatch(document, times(51, { op: "move", from: "/list/0", path: "/list/0" })), { code: 413 });
  throws(() => applyJsonPatch(document, times(101, { op: "copy", from: "/list/0", path: "/list/0" })), { code: 413 });
  const { list } = applyJsonPatch(document, times(5_000, { ...first, path: "/list/-" })) as { list: Json[] };
  deepEqual(list.length, length + 5_000);
});

test("copies of copies are limited in total size", () => {
  const doublings = Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));

  throws(
    () => applyJsonPatch({ a: ["x".repeat(100)] }, doublings),
    (error) =>
      isReason(error, "Invalid") && String((error.cause as Error).message).includes(`exceeding the limit ${JSON_PATCH_COPY_BYTES_MAX}`),
  );
});

test("strict validation reports the unknown members of operations", () => {
  deepEqual(
    unknownJsonPatchFields([
      { op: "test", path: "/a", x: 1 },
      { op: "test", y: 2, z: 3 },
    ]),
    ['json patch unknown field "[0].x"', 'json patch unknown field "[1].y"', 'json patch unknown field "[1].z"'],
  );
});

test("untouched parts are shared with the document", () => {
  const document = deepFreeze({ metadata: { labels: { a: "b" } }, spec: { list: [{ x: 1 }, { y: 2 }] } });

  const result = applyJsonPatch(document, [{ op: "replace", path: "/spec/list/0/x", value: 3 }]) as typeof document;

  equal(result.metadata, document.metadata);
  equal(result.spec.list[1], document.spec.list[1]);
  equal(applyJsonPatch(document, [{ op: "test", path: "/spec/list/0/x", value: 1 }]), document);
});

test("one replacement turns any document into any other, and an added value can be tested, moved and removed", () => {
  fc.assert(
    fc.property(anyJson, anyJson, fc.string(), (document, value, name) => {
      deepFreeze([document, value]);
      const path = `/o/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const patch = [
        { op: "add", path, value },
        { op: "test", path, value },
        { op: "copy", from: path, path: "/copy" },
        { op: "move", from: path, path: "/moved" },
        { op: "remove", path: "/copy" },
      ];

      deepEqual(applyJsonPatch({ o: {}, document }, patch), { o: {}, document, moved: value });
    }),
    settings,
  );
});

function withPatch(
  patchFor: (document: Json) => fc.Arbitrary<Operation[]>,
): fc.Arbitrary<readonly [document: Json, operations: Operation[]]> {
  return anyJsonObject.chain((document) => patchFor(document).map((operations) => deepFreeze([document, operations] as const)));
}

test("random valid operations have the result of the RFC 6902 reference and do not modify the document", () => {
  fc.assert(
    fc.property(withPatch(operationsFor), ([document, operations]) => {
      deepEqual(applyJsonPatch(document, patchOf(operations)), operations.reduce(applyPlainly, document));
    }),
    settings,
  );
});

test("setting values at different paths is idempotent, independent of order, and copies nothing else", () => {
  fc.assert(
    fc.property(withPatch(settingsFor), ([document, operations]) => {
      const once = applyJsonPatch(document, patchOf(operations));

      deepEqual(applyJsonPatch(document, patchOf(operations.toReversed())), once);
      deepEqual(applyJsonPatch(deepFreeze(once), patchOf(operations)), once);
      const set = operations.filter(({ op }) => op !== "test");
      const others = placesIn(document).filter((place) => set.every(({ path }) => !isRelated(path, place)));
      for (const place of others) equal(valueAt(once, place), valueAt(document, place));
    }),
    settings,
  );
});

test("a patch of successful tests returns the document, and a failed test rejects the patch", () => {
  fc.assert(
    fc.property(anyJsonObject, (document) => {
      deepFreeze(document);
      const tests = placesIn(document).map((path): Operation => ({ op: "test", path, value: valueAt(document, path) }));
      const change: Operation = { op: "add", path: ["new"], value: 1 };

      equal(applyJsonPatch(document, patchOf(tests)), document);
      throws(() => applyJsonPatch(document, patchOf([change, ...tests, { ...change, op: "test", value: 2 }])), { reason: "Invalid" });
    }),
    settings,
  );
});

test("the difference of two objects turns one into the other, and its inverse leads back", () => {
  fc.assert(
    fc.property(anyJsonObject, anyJsonObject, (from, to) => {
      deepFreeze([from, to]);
      const there = applyJsonPatch(from, patchOf(differenceOf(from, to)));

      deepEqual(there, to);
      deepEqual(applyJsonPatch(deepFreeze(there), patchOf(differenceOf(to, from))), from);
    }),
    settings,
  );
});
