import assert from "node:assert/strict";
import { test } from "node:test";
import { changedItems, withChanges, withMembersOf } from "./changes.ts";

interface Thing {
  readonly a?: number;
  readonly b?: readonly number[];
}

test("a patch that changes nothing hands back the value itself", () => {
  const value: Thing = { a: 1, b: [2] };

  assert.equal(withChanges(value, { a: 1, b: value.b }), value);
  assert.equal(withChanges(value, { a: undefined }), value);
});

test("a patch that changes something copies, and keeps what it does not name", () => {
  const value: Thing = Object.freeze({ a: 1, b: [2] });

  const changed = withChanges(value, { a: 5 });

  assert.deepEqual(changed, { a: 5, b: [2] });
  assert.equal(changed.b, value.b);
});

test("a list of which no item changes is the same list", () => {
  const list = [1, 2, 3];

  assert.equal(
    changedItems(list, (item) => item),
    list,
  );
  assert.deepEqual(
    changedItems(list, (item) => (item === 2 ? 20 : item)),
    [1, 20, 3],
  );
  assert.equal(
    changedItems<number>(undefined, (item) => item),
    undefined,
  );
});

test("members are taken from another, also where it has none", () => {
  const value: Thing = { a: 1, b: [2] };

  assert.deepEqual(withMembersOf(value, { a: 9 }, "a", "b"), { a: 9 });
  assert.equal(withMembersOf(value, { a: 1 }, "a"), value);
});
