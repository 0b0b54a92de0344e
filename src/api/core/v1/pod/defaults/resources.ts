/** Defaults of resource amounts: requests from limits, Pod level from container level, rounded up to thousandths. */
import { Lru } from "../../../../../base/lru.ts";
import type { Container, PodSpec, ResourceRequirements } from "../../../../generated/core/v1.ts";
import { formatQuantity, milliQuantityOf, scaledValue, type Quantity } from "../../../../machinery/quantity.ts";
import { withChanges } from "../../../../changes.ts";
import {
  aggregateOverContainers,
  isHugePages,
  isOvercommitAllowed,
  isPodLevelResource,
  readQuantity,
  type ResourceList,
} from "../resource-list.ts";

const MILLI = -3;
/** Cache size as in resource-list.ts, for the same reason. */
const ROUNDED_MAX = 10_000;
const roundedTexts = new Lru<string, string>({ max: ROUNDED_MAX });

interface Requirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
}

/** Limits and requests in canonical form, rounded up to thousandths: the scheduler supports nothing finer. */
export function roundedRequirements<T extends Requirements>(requirements: T): T {
  const limits = requirements.limits && roundedList(requirements.limits);
  const requests = requirements.requests && roundedList(requirements.requests);
  if (limits === requirements.limits && requests === requirements.requests) return requirements;
  return { ...requirements, ...(limits && { limits }), ...(requests && { requests }) };
}

export function roundedList(list: ResourceList): ResourceList {
  let isSame = true;
  for (const name in list) isSame &&= rounded(list[name] ?? "") === list[name];
  return isSame ? list : Object.fromEntries(Object.entries(list).map(([name, text]) => [name, rounded(text)]));
}

function rounded(text: string): string {
  const known = roundedTexts.get(text);
  if (known !== undefined) return known;
  const { unscaled, exponent, format } = readQuantity(text);
  const quantity: Quantity =
    exponent >= MILLI ? { unscaled, exponent, format } : milliQuantityOf(scaledValue({ unscaled, exponent, format }, MILLI), format);
  const result = formatQuantity(quantity);
  roundedTexts.set(text, result);
  return result;
}

/** Requests default to limits. */
export function requestsFromLimits(container: Container): Container {
  const { resources } = container;
  if (resources?.limits === undefined) return container;
  const requests = filledFrom(resources.requests, resources.limits);
  return requests === resources.requests ? container : { ...container, resources: { ...resources, requests } };
}

/** `list` with missing entries taken from `source`; the list itself if none is missing. */
export function filledFrom(list: ResourceList | undefined, source: ResourceList): ResourceList {
  const missing = Object.entries(source).filter(([name]) => list === undefined || !Object.hasOwn(list, name));
  return missing.length === 0 && list !== undefined ? list : Object.fromEntries([...Object.entries(list ?? {}), ...missing]);
}

/** Only for Pods with Pod-level resources; containers must have their requests by then. */
export function defaultPodLevelResources(spec: PodSpec): PodSpec {
  if (spec.resources === undefined) return spec;
  const withLimits = withHugePageLimits(spec.resources, spec);
  return withChanges(spec, { resources: withRequests(withLimits, spec) });
}

function withHugePageLimits(resources: ResourceRequirements, spec: PodSpec): ResourceRequirements {
  if (isEmpty(resources.limits) && isEmpty(resources.requests)) return resources;
  const limits = { ...resources.limits };
  const before = Object.keys(limits).length;
  for (const [name, quantity] of aggregateOverContainers(spec, "limits")) {
    const isOpen = !Object.hasOwn(limits, name) && !Object.hasOwn(resources.requests ?? {}, name);
    if (isOpen && isHugePages(name)) limits[name] = formatQuantity(quantity);
  }
  return Object.keys(limits).length === before ? resources : { ...resources, limits };
}

/** The containers' sum if they have requests, the Pod-level limit otherwise. */
function withRequests(resources: ResourceRequirements, spec: PodSpec): ResourceRequirements {
  if (isEmpty(resources.limits)) return resources;
  const fromContainers = [...aggregateOverContainers(spec, "requests")]
    .filter(([name]) => isPodLevelResource(name) && isOvercommitAllowed(name))
    .map(([name, quantity]) => [name, formatQuantity(quantity)] as const);
  const fromLimits = Object.entries(resources.limits ?? {}).filter(([name]) => isPodLevelResource(name));
  const requests = filledFrom(resources.requests, { ...Object.fromEntries(fromLimits), ...Object.fromEntries(fromContainers) });
  return isEmpty(requests) || requests === resources.requests ? resources : { ...resources, requests };
}

function isEmpty(list: ResourceList | undefined): boolean {
  return list === undefined || Object.keys(list).length === 0;
}
