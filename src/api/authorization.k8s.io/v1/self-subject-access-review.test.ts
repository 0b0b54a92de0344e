import assert from "node:assert/strict";
import test from "node:test";
import { problemsOfNew, type Sent } from "../../testing/kind.ts";
import { selfSubjectAccessReviews } from "./self-subject-access-review.ts";

/** A review has no name; the builder would set one. */
const ask = (spec: Sent["spec"]): Sent => ({ metadata: { name: "" }, spec: spec ?? {} });

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["one question", ask({ resourceAttributes: { verb: "get" } }), []],
  [
    "no question",
    ask({}),
    ["spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"],
  ],
  [
    "two questions at once",
    ask({ resourceAttributes: { verb: "get" }, nonResourceAttributes: { path: "/", verb: "get" } }),
    ['spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes'],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a SelfSubjectAccessReview with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(selfSubjectAccessReviews, sent), problems);
  });
}
