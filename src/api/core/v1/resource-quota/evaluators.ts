/** The registry of quota evaluators, and the usage of a quota by all existing objects. */
import type { ResourceQuota } from "../../../generated/core/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import { addQuantities, type Quantity } from "../../../machinery/quantity.ts";
import { ZERO, type Amounts } from "./amounts.ts";
import type { QuotaEvaluator, QuotaSurroundings } from "./evaluator.ts";
import { NAMED_BY_PLURAL, objectEvaluator } from "./objects.ts";
import { podEvaluator } from "./pods.ts";
import { resourceClaimEvaluator } from "./resource-claims.ts";
import { isInAllScopes } from "./scopes.ts";
import { serviceEvaluator } from "./services.ts";
import { volumeClaimEvaluator } from "./volume-claims.ts";

/** Evaluators that compute more than the number of objects. */
const KNOWING: readonly QuotaEvaluator[] = [podEvaluator, serviceEvaluator, volumeClaimEvaluator, resourceClaimEvaluator];
const NAMED: readonly QuotaEvaluator[] = NAMED_BY_PLURAL.map((plural) => objectEvaluator("", plural));
const ALL: readonly QuotaEvaluator[] = [...KNOWING, ...NAMED];
const COUNT = "count/";

/** Never counted, as upstream. */
export function isNeverCounted({ group, plural }: Pick<QuotaEvaluator, "group" | "plural">): boolean {
  return plural === "events" && (group === "" || group === "events.k8s.io");
}

export function evaluatorOf(group: string, plural: string): QuotaEvaluator {
  const known = ALL.find((evaluator) => evaluator.group === group && evaluator.plural === plural);
  return known ?? objectEvaluator(group, plural);
}

export function hardNames({ spec }: ResourceQuota): readonly string[] {
  return Object.keys(spec?.hard ?? {});
}

/** The evaluators that a quota needs. A kind that is only counted may not exist. */
export function evaluatorsOf(quota: ResourceQuota, surroundings: QuotaSurroundings): readonly QuotaEvaluator[] {
  const names = hardNames(quota);
  const named = names.filter((name) => name.startsWith(COUNT)).map((name) => counted(name.slice(COUNT.length)));
  const others = named.filter((evaluator) => !isNeverCounted(evaluator));
  const byKind = new Map([...others, ...ALL].map((evaluator) => [`${evaluator.group}/${evaluator.plural}`, evaluator]));
  return [...byKind.values()].filter((evaluator) => evaluator.namesAmong(names, surroundings).length > 0);
}

/** "deployments.apps" is a plural and a group. */
function counted(resource: string): QuotaEvaluator {
  const dot = resource.indexOf(".");
  return dot < 0 ? objectEvaluator("", resource) : objectEvaluator(resource.slice(dot + 1), resource.slice(0, dot));
}

/** True if device classes are needed to interpret the requested resources. */
export function needsDeviceClasses(quota: ResourceQuota): boolean {
  return hardNames(quota).some((name) => name.includes("/") && !name.startsWith(COUNT));
}

/** All objects of a namespace that have an evaluator. */
export interface ObjectsOfKind {
  readonly evaluator: QuotaEvaluator;
  readonly objects: readonly KubeObject[];
}

/** The usage of a quota: an amount for each of its names that the kinds know. */
export function usageOfAll(quota: ResourceQuota, kinds: readonly ObjectsOfKind[], surroundings: QuotaSurroundings): Amounts {
  const names = hardNames(quota);
  const tracked = new Set(kinds.flatMap(({ evaluator }) => evaluator.namesAmong(names, surroundings)));
  const usage = new Map([...tracked].map((name) => [name, ZERO]));
  for (const { evaluator, objects } of kinds) {
    for (const object of objects) {
      if (isInAllScopes(evaluator, quota, object)) addTracked(usage, evaluator.usageOf(object, surroundings));
    }
  }
  return usage;
}

function addTracked(usage: Map<string, Quantity>, more: Amounts): void {
  for (const [name, sum] of usage) {
    const quantity = more.get(name);
    if (quantity !== undefined) usage.set(name, addQuantities(sum, quantity));
  }
}
