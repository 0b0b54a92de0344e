import assert from "node:assert/strict";
import { test } from "node:test";
import { changedItems, withChanges, withMembersOf } from "./changes.ts";

interface Thing {
  readonly a?: number;
  readonly b?: readonly number[];
}

test("withChanges without a difference returns the value itself", () => {
  const value: Thing = { a: 1, b: [2] };

  assert.equal(withChanges(value, { a: 1, b: value.b }), value);
  assert.equal(withChanges(value, { a: undefined }), value);
});

test("withChanges with a difference copies, and keeps the members that the patch does not name", () => {
  const value: Thing = Object.freeze({ a: 1, b: [2] });

  const changed = withChanges(value, { a: 5 });

  assert.deepEqual(changed, { a: 5, b: [2] });
  assert.equal(changed.b, value.b);
});

test("mapping a list without changing an item returns the same list", () => {
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

test("members are copied from the source, and removed where it has none", () => {
  const value: Thing = { a: 1, b: [2] };

  assert.deepEqual(withMembersOf(value, { a: 9 }, "a", "b"), { a: 9 });
  assert.equal(withMembersOf(value, { a: 1 }, "a"), value);
});
