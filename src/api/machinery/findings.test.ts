import assert from "node:assert/strict";
import { test } from "node:test";
import { required, type FieldError } from "./field-error.ts";
import { errorsOf, warningsOf } from "./findings.ts";
import { CAUSES_LENGTH_MAX, CAUSES_MAX } from "./validation-errors.ts";

test("errors and warnings are kept in the order in which a check adds them", () => {
  const errors = [required("a"), required("b"), required("c")];

  const found = errorsOf((list) => {
    list.add(errors[0] as FieldError);
    list.addAll([]);
    list.addAll(errors.slice(1));
  });

  assert.deepEqual(found, errors);
  assert.deepEqual(
    warningsOf((list) => list.addAll(["first", "second"])),
    ["first", "second"],
  );
});

test("a check ends at the maximum number of errors", () => {
  let made = 0;
  const found = errorsOf((errors) => {
    for (;;) errors.add(required(`a[${made++}]`));
  });

  assert.equal(found.length, CAUSES_MAX);
  assert.equal(made, CAUSES_MAX);
});

test("long errors end a check earlier, and the first is kept at any length", () => {
  const long = required("x".repeat(2 * CAUSES_LENGTH_MAX));

  assert.deepEqual(
    errorsOf((errors) => errors.addAll([long, required("y")])),
    [long],
  );
});

test("a check that fails is not mistaken for one that reached the limit", () => {
  assert.throws(
    () =>
      warningsOf(() => {
        throw new Error("broken rule");
      }),
    /broken rule/,
  );
});
