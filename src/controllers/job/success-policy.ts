/** Whether the succeeded indexes of a Job satisfy its success policy. */
import type { SuccessPolicy, SuccessPolicyRule } from "../../api/generated/batch/v1.ts";
import { IndexSet } from "./index-set.ts";

/** The message of the condition, which is upstream's; undefined if no rule is satisfied. */
export function matchSuccessPolicy(policy: SuccessPolicy | undefined, completions: number, succeeded: IndexSet): string | undefined {
  if (policy === undefined || succeeded.size === 0) return undefined;
  const index = policy.rules.findIndex((rule) => isSatisfied(rule, completions, succeeded));
  return index === -1 ? undefined : `Matched rules at index ${index}`;
}

/** With both members: so many of these indexes. With indexes only: all of them. */
function isSatisfied({ succeededIndexes, succeededCount }: SuccessPolicyRule, completions: number, succeeded: IndexSet): boolean {
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
  const required = IndexSet.parse(succeededIndexes, completions);
  if (required.size === 0) return false;
  const overlap = required.overlap(succeeded);
  return overlap === required.size || (succeededCount !== undefined && overlap >= succeededCount);
}
