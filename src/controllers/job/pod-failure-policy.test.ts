import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { PodFailurePolicyRule } from "../../api/generated/batch/v1.ts";
import { matchFailurePolicy, type FailureMatch } from "./pod-failure-policy.ts";
import { podWith } from "./testing/jobs.ts";

const FAILED = podWith("a", { phase: "Failed", exitCode: 42 });
const EVICTED = podWith("b", { phase: "Failed", condition: "DisruptionTarget" });

const onCode = (action: PodFailurePolicyRule["action"], operator: "In" | "NotIn", ...values: number[]): PodFailurePolicyRule => ({
  action,
  onExitCodes: { operator, values },
});
const onCondition = (action: PodFailurePolicyRule["action"], status?: string): PodFailurePolicyRule => ({
  action,
  onPodConditions: [{ type: "DisruptionTarget", ...(status === undefined ? {} : { status }) }],
});

const CODE_MESSAGE = "Container main for pod default/a failed with exit code 42 matching FailJob rule at index 0";
const CASES: readonly [title: string, rules: readonly PodFailurePolicyRule[], pod: typeof FAILED, match: FailureMatch][] = [
  ["no rule", [], FAILED, { counts: true }],
  ["a listed exit code", [onCode("FailJob", "In", 42)], FAILED, { action: "FailJob", counts: true, failJobMessage: CODE_MESSAGE }],
  ["an exit code that is not listed", [onCode("FailJob", "In", 1, 2)], FAILED, { counts: true }],
  ["an excluded exit code", [onCode("Ignore", "NotIn", 42)], FAILED, { counts: true }],
  ["an exit code that is not excluded", [onCode("Ignore", "NotIn", 1)], FAILED, { action: "Ignore", counts: false }],
  ["FailIndex", [onCode("FailIndex", "In", 42)], FAILED, { action: "FailIndex", counts: true }],
  ["the first of two matching rules", [onCode("Count", "In", 42), onCode("FailJob", "In", 42)], FAILED, { action: "Count", counts: true }],
  ["a true condition", [onCondition("Ignore")], EVICTED, { action: "Ignore", counts: false }],
  ["a condition that should be false", [onCondition("Ignore", "False")], EVICTED, { counts: true }],
  [
    "a condition that fails the Job",
    [onCode("Ignore", "In", 1), onCondition("FailJob", "True")],
    EVICTED,
    {
      action: "FailJob",
      counts: true,
      failJobMessage: "Pod default/b has condition DisruptionTarget matching FailJob rule at index 1",
    },
  ],
];

for (const [title, rules, pod, match] of CASES) {
  test(`a Pod failure policy matches ${title}`, () => {
    deepEqual(matchFailurePolicy({ rules }, pod), match);
  });
}

test("an exit-code rule with a container name matches only that container", () => {
  const rule = { action: "Ignore" as const, onExitCodes: { containerName: "sidecar", operator: "In" as const, values: [42] } };

  deepEqual(matchFailurePolicy({ rules: [rule] }, FAILED), { counts: true });
});

test("an exit-code rule ignores containers that ended with 0 or still run", () => {
  const rules = [onCode("FailJob", "NotIn", 1)];

  deepEqual(matchFailurePolicy({ rules }, podWith("a", { phase: "Failed", exitCode: 0 })), { counts: true });
  deepEqual(matchFailurePolicy({ rules }, podWith("a", { phase: "Failed", restarts: 3 })), { counts: true });
});
