/** Computes what a write uses of the quotas of its namespace, and whether a quota allows it. Pure. */
import type { ResourceQuota } from "../../../api/generated/core/v1.ts";
import {
  addAmounts,
  amountsOf,
  areSameLists,
  excessOf,
  namesAbove,
  onlyNamed,
  shownAmounts,
  withoutZeros,
  type Amounts,
} from "../../../api/core/v1/resource-quota/amounts.ts";
import type { QuotaEvaluator, QuotaSurroundings, QuotaWrite } from "../../../api/core/v1/resource-quota/evaluator.ts";
import { hardNames } from "../../../api/core/v1/resource-quota/evaluators.ts";
import { isInAllScopes } from "../../../api/core/v1/resource-quota/scopes.ts";

export interface QuotaQuestion {
  readonly evaluator: QuotaEvaluator;
  readonly write: QuotaWrite;
  readonly surroundings: QuotaSurroundings;
}

/** True if the quota limits any resource that the object uses. */
export function isAbout(quota: ResourceQuota, { evaluator, write, surroundings }: QuotaQuestion): boolean {
  return evaluator.namesAmong(hardNames(quota), surroundings).length > 0 && isInAllScopes(evaluator, quota, write.object);
}

/** Returns why the object cannot be counted against a matching quota; undefined if it can. */
export function whyUncountable(quota: ResourceQuota, { evaluator, write, surroundings }: QuotaQuestion): string | undefined {
  const missing = evaluator.whatIsMissing?.(write.object, evaluator.namesAmong(hardNames(quota), surroundings));
  return missing === undefined ? undefined : `failed quota: ${quota.metadata.name}: ${missing}`;
}

/** Returns the usage that the write adds to a matching quota: all of it, or the increase if the object was already counted. */
export function requestedFrom(quota: ResourceQuota, { evaluator, write, surroundings }: QuotaQuestion): Amounts {
  const { object, oldObject } = write;
  const usage = evaluator.usageOf(object, surroundings);
  const wasCounted = oldObject !== undefined && isInAllScopes(evaluator, quota, oldObject);
  const more = wasCounted ? excessOf(usage, evaluator.usageOf(oldObject, surroundings)) : withoutZeros(usage);
  return onlyNamed(more, hardNames(quota));
}

/** True if the quota's status reports usage for every resource that the write affects. */
export function isCounted({ spec, status }: ResourceQuota, names: readonly string[]): boolean {
  return areSameLists(spec?.hard, status?.hard) && names.every((name) => Object.hasOwn(status?.used ?? {}, name));
}

/** Returns why the quota does not allow the increase; undefined if it does. */
export function whyTooMuch(
  quota: ResourceQuota,
  { used, requested }: { readonly used: Amounts; readonly requested: Amounts },
): string | undefined {
  const hard = amountsOf(quota.spec?.hard);
  const above = namesAbove(onlyNamed(addAmounts(used, requested), requested.keys()), hard);
  if (above.length === 0) return undefined;
  const [asked, taken, limit] = [requested, used, hard].map((amounts) => shownAmounts(onlyNamed(amounts, above)));
  return `exceeded quota: ${quota.metadata.name}, requested: ${asked}, used: ${taken}, limited: ${limit}`;
}
