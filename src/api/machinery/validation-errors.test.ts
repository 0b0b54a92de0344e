import assert from "node:assert/strict";
import { test } from "node:test";
import { CAUSES_LENGTH_MAX, CAUSES_MAX, Causes, firstCauses } from "./validation-errors.ts";
import { required, type FieldError } from "./field-error.ts";

/** Yields as many errors as the caller consumes, and counts them. */
function endless(field = "a"): { readonly errors: Iterable<FieldError>; readonly made: () => number } {
  let made = 0;
  const errors = (function* () {
    for (;;) {
      made++;
      yield required(field);
    }
  })();
  return { errors, made: () => made };
}

test("collectCauses keeps all errors of all sources, in order", () => {
  const errors = [required("a"), required("b"), required("c")];

  assert.deepEqual(firstCauses(errors.slice(0, 1), [], errors.slice(1)), errors);
});

test("validation stops at the maximum number of causes in a response", () => {
  const { errors, made } = endless();

  assert.equal(firstCauses(errors, [required("z")]).length, CAUSES_MAX);
  assert.equal(made(), CAUSES_MAX);
});

test("long error messages reduce the number of causes, and the first is kept at any length", () => {
  const { errors, made } = endless("x".repeat(CAUSES_LENGTH_MAX / 4));

  assert.ok(firstCauses(errors).length <= 4);
  assert.ok(made() <= 4);
  assert.equal(firstCauses([required("x".repeat(2 * CAUSES_LENGTH_MAX)), required("y")]).length, 1);
});

test("validation is not resumed once the causes are full", () => {
  const causes = new Causes();
  causes.addAll(endless().errors);
  const { errors, made } = endless();
  causes.addAll(errors);

  assert.equal(causes.isFull, true);
  assert.equal(made(), 0);
});
