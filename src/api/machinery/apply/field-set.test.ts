import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../object.ts";
import { describePath, keyElement, valueElement, type FieldPath } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";

const elements = fc.constantFrom(
  "f:a",
  "f:b",
  "f:c.d/e",
  'f:"<',
  'k:{"name":"x"}',
  'k:{"name":"y"}',
  'k:{"port":80}',
  'k:{"port":443}',
  'v:"x"',
  "v:1",
  "i:0",
);
const paths = fc.array(fc.array(elements, { minLength: 1, maxLength: 3 }), { maxLength: 8 });

/** The paths of a set, independent of its representation. */
function listed(set: FieldSet): readonly string[] {
  return [...set.paths()].map((path) => path.join(" ")).toSorted();
}

function unique(list: readonly FieldPath[]): readonly string[] {
  return [...new Set(list.map((path) => path.join(" ")))].toSorted();
}

test("a set contains its paths, built, serialized and parsed, or received from a client", () => {
  fc.assert(
    fc.property(paths, (given) => {
      const set = FieldSet.fromPaths(given);
      assert.deepEqual(listed(set), unique(given));
      assert.deepEqual(listed(FieldSet.fromText(set.text())), unique(given));
      assert.equal(FieldSet.fromJson(JSON.parse(set.text()) as JsonObject).text(), set.text());
    }),
  );
});

test("union, difference and intersection equal those of the paths", () => {
  fc.assert(
    fc.property(paths, paths, fc.boolean(), (left, right, isRead) => {
      const made = FieldSet.fromPaths(left);
      const a = isRead ? FieldSet.fromText(made.text()) : made;
      const b = FieldSet.fromPaths(right);
      const [ours, theirs] = [unique(left), unique(right)];
      assert.deepEqual(listed(a.union(b)), unique([...left, ...right]));
      assert.deepEqual(
        listed(a.difference(b)),
        ours.filter((path) => !theirs.includes(path)),
      );
      assert.deepEqual(
        listed(a.intersection(b)),
        ours.filter((path) => theirs.includes(path)),
      );
      const isBelow = (path: string): boolean => theirs.some((other) => path === other || path.startsWith(`${other} `));
      assert.deepEqual(
        listed(a.recursiveDifference(b)),
        ours.filter((path) => !isBelow(path)),
      );
      assert.equal(FieldSet.fromText(a.union(b).text()).text(), a.union(b).text());
    }),
  );
});

test("an operation that changes nothing returns the set itself", () => {
  const set = FieldSet.fromText('{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:replicas":{}}}');
  const part = FieldSet.fromText('{"f:spec":{"f:replicas":{}}}');

  assert.equal(set.union(part), set);
  assert.equal(set.difference(FieldSet.fromText('{"f:other":{}}')), set);
  assert.equal(set.intersection(set), set);
});

test("members are serialized in upstream's order: fields, then keys by value, then values", () => {
  const set = FieldSet.fromPaths([
    ['v:"b"'],
    [valueElement("a")],
    [keyElement([["port", 443]])],
    [keyElement([["port", 80]])],
    ["f:b"],
    ["f:a"],
    ["i:0"],
  ]);

  assert.equal(set.text(), '{"f:a":{},"f:b":{},"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{},"v:\\"a\\"":{},"v:\\"b\\"":{},"i:0":{}}');
});

test("a client's set is sorted, and path elements of unknown kinds are skipped", () => {
  const sent = { "f:b": { "f:c": {}, ".": {} }, "f:a": { "x:new": {} }, 'k:{"b": 1, "a": 2}': {}, "x:other": {} };

  assert.equal(FieldSet.fromJson(sent).text(), '{"f:a":{},"f:b":{".":{},"f:c":{}},"k:{\\"a\\":2,\\"b\\":1}":{}}');
});

for (const { sent, message } of [
  { sent: { f: {} }, message: /key must be 2 characters long/ },
  { sent: { fa: {} }, message: /missing colon: fa/ },
  { sent: { "i:x": {} }, message: /invalid syntax/ },
  { sent: { "k:[1]": {} }, message: /expected an object of keys/ },
  { sent: { "f:a": 1 }, message: /expected an object after "f:a", got 1/ },
]) {
  test(`a client's set is rejected with ${String(message)}`, () => {
    assert.throws(() => FieldSet.fromJson(sent), message);
  });
}

test("unsorted text parses to the same set", () => {
  const set = FieldSet.fromText('{"f:b": {"f:x": {}, ".": {}}, "f:a": {}}');

  assert.equal(FieldSet.fromPaths([...set.paths()]).text(), '{"f:a":{},"f:b":{".":{},"f:x":{}}}');
});

test("characters that upstream escapes are escaped, and parsed back", () => {
  const set = FieldSet.fromPaths([["f:env", keyElement([["name", "A<B&C"]])]]);

  assert.equal(set.text(), '{"f:env":{"k:{\\"name\\":\\"A\\\\u003cB\\\\u0026C\\"}":{}}}');
  assert.deepEqual([...FieldSet.fromText(set.text()).paths()], [...set.paths()]);
});

test("paths are shown to people as upstream shows them", () => {
  assert.equal(describePath(["f:spec", 'k:{"name":"x","port":80}', "f:tags", 'v:"t"', "i:0"]), '.spec[name="x",port=80].tags[="t"][0]');
});
