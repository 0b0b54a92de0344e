import assert from "node:assert/strict";
import test from "node:test";
import { validateLabelValue, validateQualifiedName } from "../../machinery/names.ts";
import { problemsOfNew, type Sent } from "../../testing/kind.ts";
import { subjectAccessReviews } from "./subject-access-review.ts";

const [LABEL_VALUE = ""] = validateLabelValue("-");
const [QUALIFIED_NAME = ""] = validateQualifiedName("a b");
const QUESTION = { user: "u", resourceAttributes: { verb: "get" } };

/** A review has no name; the builder would set one. */
const ask = (spec: Sent["spec"], metadata = {}): Sent => ({ metadata: { name: "", ...metadata }, spec: spec ?? {} });

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["who and what", ask(QUESTION), []],
  ["a group instead of a user", ask({ groups: ["g"], nonResourceAttributes: { path: "/", verb: "get" } }), []],
  [
    "nothing",
    ask({}),
    [
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
  ],
  [
    "two questions at once",
    ask({ ...QUESTION, nonResourceAttributes: { path: "/", verb: "get" } }),
    ['spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes'],
  ],
  ["a name", ask(QUESTION, { name: "n" }), ['metadata: Invalid value: {"name":"n"}: must be empty']],
  [
    "selectors that say nothing",
    ask({ user: "u", resourceAttributes: { labelSelector: {}, fieldSelector: {} } }),
    [
      "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
      "spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required",
    ],
  ],
  [
    "a selector of fields that makes no sense",
    ask({
      user: "u",
      resourceAttributes: {
        fieldSelector: {
          rawSelector: "x",
          requirements: [
            { key: "", operator: "In" },
            { key: "a", operator: "Exists", values: ["a"] },
          ],
        },
      },
    }),
    [
      'spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: "x": may not specified at the same time as requirements',
      "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
      "spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.resourceAttributes.fieldSelector.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ],
  [
    "operators of the future",
    ask({
      user: "u",
      resourceAttributes: {
        fieldSelector: { requirements: [{ key: "a", operator: "Z" }] },
        labelSelector: { requirements: [{ key: "a", operator: "Z" }] },
      },
    }),
    [],
  ],
  [
    "a selector of labels that cannot be",
    ask({ user: "u", resourceAttributes: { labelSelector: { requirements: [{ key: "a", operator: "In" }] } } }),
    ["spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
  ],
  [
    "a selector of labels that makes no sense",
    ask({
      user: "u",
      resourceAttributes: { labelSelector: { rawSelector: "x", requirements: [{ key: "a b", operator: "In", values: ["-"] }] } },
    }),
    [
      'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "x": may not specified at the same time as requirements',
      `spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: "a b": ${QUALIFIED_NAME}`,
      `spec.resourceAttributes.labelSelector.requirements[0].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
    ],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a SubjectAccessReview with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(subjectAccessReviews, sent), problems);
  });
}

test("a SubjectAccessReview can only be created: it is neither stored nor shown in a table", () => {
  const { stored, verbs, columns } = subjectAccessReviews;

  assert.deepEqual({ stored, verbs, columns }, { stored: false, verbs: ["create"], columns: [] });
});
