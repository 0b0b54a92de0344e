/**
 * The quality-of-service class of a Pod: how its node treats it under memory pressure. Guaranteed Pods have for every container, or at Pod
 * level, limits of cpu and memory that equal the requests; BestEffort Pods request nothing; all others are Burstable.
 */
import type { PodSpec, PodStatus } from "../../../generated/core/v1.ts";
import { compareQuantities, signOf, type Quantity } from "../../../machinery/quantity.ts";
import { addTo, readQuantity, type ResourceList } from "./resource-list.ts";

export type QosClass = NonNullable<PodStatus["qosClass"]>;

/** Resources that determine the class. */
const COUNTED = ["cpu", "memory"];

/** Ephemeral containers do not count: they have no resources. */
export function qosClassOf(spec: PodSpec): QosClass {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  let isFullyLimited = true;
  for (const requirements of demandsOf(spec)) {
    addTo(requests, countedAmounts(requirements.requests));
    const own = countedAmounts(requirements.limits);
    addTo(limits, own);
    if (own.length < COUNTED.length) isFullyLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  return isFullyLimited && areEqual(requests, limits) ? "Guaranteed" : "Burstable";
}

interface Demand {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

function demandsOf(spec: PodSpec): readonly Demand[] {
  if (spec.resources !== undefined) return [spec.resources];
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources ?? {});
}

function countedAmounts(list: ResourceList | undefined): readonly (readonly [string, Quantity])[] {
  if (list === undefined) return [];
  const amounts: (readonly [string, Quantity])[] = [];
  for (const name of COUNTED) {
    const text = list[name];
    const quantity = text === undefined ? undefined : readQuantity(text);
    if (quantity !== undefined && signOf(quantity) > 0) amounts.push([name, quantity]);
  }
  return amounts;
}

function areEqual(requests: ReadonlyMap<string, Quantity>, limits: ReadonlyMap<string, Quantity>): boolean {
  if (requests.size !== limits.size) return false;
  for (const [name, request] of requests) {
    const limit = limits.get(name);
    if (limit === undefined || compareQuantities(limit, request) !== 0) return false;
  }
  return true;
}
