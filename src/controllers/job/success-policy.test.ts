import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { SuccessPolicyRule } from "../../api/generated/batch/v1.ts";
import { IndexSet } from "./index-set.ts";
import { matchSuccessPolicy } from "./success-policy.ts";

const CASES: readonly [rules: readonly SuccessPolicyRule[], succeeded: string, matched: number | undefined][] = [
  [[{ succeededCount: 2 }], "0", undefined],
  [[{ succeededCount: 2 }], "0,4", 0],
  [[{ succeededIndexes: "0-2" }], "0,1", undefined],
  [[{ succeededIndexes: "0-2" }], "0-3", 0],
  [[{ succeededIndexes: "0-2", succeededCount: 1 }], "3", undefined],
  [[{ succeededIndexes: "0-2", succeededCount: 1 }], "2,3", 0],
  [[{ succeededIndexes: "4" }, { succeededCount: 3 }], "0-2", 1],
  [[{ succeededIndexes: "7-9" }], "0-4", undefined],
  [[{ succeededCount: 1 }], "", undefined],
];

for (const [rules, succeeded, matched] of CASES) {
  test(`of the success policy ${JSON.stringify(rules)} the indexes "${succeeded}" satisfy ${matched ?? "no rule"}`, () => {
    const message = matchSuccessPolicy({ rules }, 5, IndexSet.parse(succeeded, 5));

    equal(message, matched === undefined ? undefined : `Matched rules at index ${matched}`);
  });
}

test("a Job without a success policy matches none", () => {
  equal(matchSuccessPolicy(undefined, 5, IndexSet.parse("0-4", 5)), undefined);
});
