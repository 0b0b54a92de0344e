import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldSelectorAttributes, LabelSelectorAttributes } from "../../../api/generated/authorization.k8s.io/v1.ts";
import { ignoredSentence, understoodFields, understoodLabels } from "./understood-selector.ts";

const FIELDS: readonly [selector: FieldSelectorAttributes | undefined, text: string, isPart: boolean][] = [
  [undefined, "", false],
  [{ rawSelector: "b!=2,a==1" }, "a=1,b!=2", false],
  [{ rawSelector: "a" }, "", true],
  [{ requirements: [{ key: "a", operator: "In", values: ["x,y"] }] }, "a=x\\,y", false],
  [{ requirements: [{ key: "a", operator: "In", values: ["x", "y"] }] }, "", true],
  [
    {
      requirements: [
        { key: "a", operator: "NotIn", values: ["x"] },
        { key: "b", operator: "Exists" },
      ],
    },
    "a!=x",
    true,
  ],
];

for (const [selector, text, isPart] of FIELDS) {
  test(`the field selector ${JSON.stringify(selector)} is understood as "${text}"`, () => {
    assert.deepEqual(understoodFields(selector), { text, isPart });
  });
}

const LABELS: readonly [selector: LabelSelectorAttributes | undefined, text: string, isPart: boolean][] = [
  [undefined, "", false],
  [{ rawSelector: "a in (x,y)" }, "a in (x,y)", false],
  [{ rawSelector: "a in" }, "", true],
  [{ requirements: [{ key: "a", operator: "In", values: ["x", "y"] }] }, "a in (x,y)", false],
  [{ requirements: [{ key: "a b", operator: "Exists" }] }, "", true],
  [
    {
      requirements: [
        { key: "b", operator: "DoesNotExist" },
        { key: "a", operator: "Gt", values: ["1"] },
      ],
    },
    "!b",
    true,
  ],
];

for (const [selector, text, isPart] of LABELS) {
  test(`the label selector ${JSON.stringify(selector)} is understood as "${text}"`, () => {
    assert.deepEqual(understoodLabels(selector), { text, isPart });
  });
}

test("a review reports ignored parts of its selectors, and nothing else", () => {
  assert.equal(ignoredSentence("labelSelector", { text: "", isPart: false }), "");
  assert.equal(
    ignoredSentence("labelSelector", { text: "a", isPart: true }),
    "spec.resourceAttributes.labelSelector partially ignored due to parse error",
  );
});
