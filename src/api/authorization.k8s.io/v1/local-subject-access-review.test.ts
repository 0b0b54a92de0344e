import assert from "node:assert/strict";
import test from "node:test";
import { problemsOfNew, type Sent } from "../../testing/kind.ts";
import { localSubjectAccessReviews } from "./local-subject-access-review.ts";

/** A review has no name; the builder would set one. */
const ask = (spec: Sent["spec"]): Sent => ({ metadata: { name: "" }, spec: spec ?? {} });

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["its own namespace", ask({ user: "u", resourceAttributes: { namespace: "default", verb: "get" } }), []],
  [
    "another namespace",
    ask({ user: "u", resourceAttributes: { namespace: "other", verb: "get" } }),
    ['spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'],
  ],
  [
    "what is in no namespace",
    ask({ user: "u", nonResourceAttributes: { path: "/", verb: "get" } }),
    ['spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request'],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a LocalSubjectAccessReview about ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(localSubjectAccessReviews, sent), problems);
  });
}
