/** The scopes of a quota: it counts only objects that are in all of them. */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from "../../../generated/core/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import type { QuotaEvaluator } from "./evaluator.ts";

function scopesOf({ spec = {} }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] {
  const plain = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" }) as const);
  return [...plain, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

export function isInAllScopes(evaluator: QuotaEvaluator, quota: ResourceQuota, object: KubeObject): boolean {
  return scopesOf(quota).every((scope) => evaluator.isInScope?.(object, scope) === true);
}

/** True if an object with these values, or none, is selected; one of several is enough. */
export function isSelected({ operator, values = [] }: ScopedResourceSelectorRequirement, found: readonly string[]): boolean {
  switch (operator) {
    case "In":
      return found.some((value) => values.includes(value));
    case "NotIn":
      return found.length === 0 || found.some((value) => !values.includes(value));
    case "Exists":
      return found.length > 0;
    default:
      return found.length === 0;
  }
}
