/** Validation of container and Pod resources: resource names, amounts, and the relation of limits and requests. */
import type { PodSpec, ResourceClaim, ResourceRequirements } from "../../../../generated/core/v1.ts";
import {
  duplicate,
  forbidden,
  invalid,
  notFoundField,
  notSupported,
  required,
  type FieldError,
} from "../../../../machinery/field-error.ts";
import { validateQualifiedName } from "../../../../machinery/names.ts";
import { compareQuantities, formatQuantity, parseQuantity, scaledValue, signOf, type Quantity } from "../../../../machinery/quantity.ts";
import { dnsLabel, qualifiedName } from "./checks.ts";
import {
  aggregateOverContainers,
  hugePageSize,
  isHugePages,
  isNativeResource,
  isOvercommitAllowed,
  isPodLevelResource,
  readQuantity,
  type ResourceList,
} from "../resource-list.ts";

const MILLI = -3;

/** Standard resource names without a domain: quotas have more than containers. */
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "storage",
  "requests.storage",
  "services.nodeports",
  "services.loadbalancers",
]);
const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Integer resources. */
const COUNTED_RESOURCES: ReadonlySet<string> = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);
const POD_LEVEL_RESOURCES = ["cpu", "hugepages-", "memory"];

type NameRule = (name: string, at: string) => Iterable<FieldError>;

export interface Requirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
  readonly claims?: readonly ResourceClaim[];
}

/** Validates the resources of a container. `claimNames` are the claims of its Pod. */
export function validateContainerResources(requirements: Requirements, claimNames: ReadonlySet<string>, at: string): Iterable<FieldError> {
  return validateRequirements(requirements, validateContainerResourceName, claimNames, at);
}

/** Validates the Pod-level resources, and that the containers fit into them. */
export function* validatePodResources(resources: ResourceRequirements, spec: PodSpec, at: string): Iterable<FieldError> {
  if (spec.os?.name === "windows") return yield forbidden(at, "may not be set for a windows pod");
  if (resources.claims !== undefined) yield forbidden(`${at}.claims`, "claims may not be set for Resources at pod-level");
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  yield* validateRequirements(resources, validatePodResourceName, claimNames, at);
  yield* validateContainersFit(resources, spec, at);
}

function* validateRequirements(
  { limits = {}, requests = {}, claims = [] }: Requirements,
  validateName: NameRule,
  claimNames: ReadonlySet<string>,
  at: string,
): Iterable<FieldError> {
  for (const [name, text] of Object.entries(limits)) {
    if (isPlain(name, text, text)) continue;
    yield* validateAmount(name, readQuantity(text), validateName, `${at}.limits[${name}]`);
  }
  for (const [name, text] of Object.entries(requests)) {
    if (isPlain(name, text, limits[name])) continue;
    const here = `${at}.requests[${name}]`;
    yield* validateAmount(name, readQuantity(text), validateName, here, () => validateAgainstLimit(name, readQuantity(text), limits, at));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory"))
    yield forbidden(at, "HugePages require cpu or memory");
  yield* validateClaimUses(claims, claimNames, `${at}.claims`);
}

/** Fast path: nearly all amounts are of these two kinds and valid. */
function isPlain(name: string, text: string, limitText: string | undefined): boolean {
  if (name !== "cpu" && name !== "memory") return false;
  const quantity = readQuantity(text);
  if (signOf(quantity) < 0) return false;
  return limitText === undefined || limitText === text || compareQuantities(quantity, readQuantity(limitText)) <= 0;
}

/** `between` are errors between those of the amount and those of its huge pages: the order is upstream's. */
function* validateAmount(
  name: string,
  quantity: Quantity,
  validateName: NameRule,
  at: string,
  between: () => Iterable<FieldError> = () => [],
): Iterable<FieldError> {
  yield* validateName(name, at);
  yield* validateResourceQuantity(name, quantity, at);
  yield* between();
  if (isHugePages(name) && !isMultipleOfPage(name, quantity)) {
    const text = formatQuantity(quantity);
    yield invalid(at, text, `${text} is not positive integer multiple of ${name}`);
  }
}

/** Non-negative, and an integer for integer resources. */
export function* validateResourceQuantity(name: string, quantity: Quantity, at: string): Iterable<FieldError> {
  if (signOf(quantity) < 0) yield invalid(at, formatQuantity(quantity), "must be greater than or equal to 0");
  if ((COUNTED_RESOURCES.has(name) || isExtendedResource(name)) && scaledValue(quantity, MILLI) % 1000n !== 0n) {
    yield invalid(at, formatQuantity(quantity), "must be an integer");
  }
}

function* validateAgainstLimit(name: string, request: Quantity, limits: ResourceList, at: string): Iterable<FieldError> {
  const limitText = Object.hasOwn(limits, name) ? limits[name] : undefined;
  const requestsAt = `${at}.requests`;
  if (limitText === undefined) {
    if (!isOvercommitAllowed(name)) yield required(`${at}.limits`, "Limit must be set for non overcommitable resources");
    return;
  }
  const limit = readQuantity(limitText);
  const order = compareQuantities(request, limit);
  if (order !== 0 && !isOvercommitAllowed(name)) {
    yield invalid(requestsAt, formatQuantity(request), `must be equal to ${name} limit of ${formatQuantity(limit)}`);
  } else if (order > 0) {
    yield invalid(requestsAt, formatQuantity(request), `must be less than or equal to ${name} limit of ${formatQuantity(limit)}`);
  }
}

function isMultipleOfPage(name: string, quantity: Quantity): boolean {
  const page = pageSizeOf(name);
  return page !== undefined && scaledValue(quantity, 0) % page === 0n;
}

function pageSizeOf(name: string): bigint | undefined {
  try {
    const size = parseQuantity(hugePageSize(name));
    return signOf(size) > 0 && scaledValue(size, MILLI) % 1000n === 0n ? scaledValue(size, 0) : undefined;
  } catch {
    return undefined; // "hugepages-" without a size.
  }
}

/** An extended resource, with a domain of its vendor. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

/** A standard name without a domain: of a container, a claim or a quota. */
export function isStandardResource(name: string): boolean {
  return STANDARD_RESOURCES.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
}

export function* validateResourceName(name: string, at: string): Iterable<FieldError> {
  const problems = qualifiedName(name, at);
  if (problems.length > 0) return yield* problems;
  if (!name.includes("/") && !isStandardResource(name)) yield invalid(at, name, "must be a standard resource type or fully qualified");
}

/** A container resource name: one of the three, huge pages, or one with a domain. */
export function* validateContainerResourceName(name: string, at: string): Iterable<FieldError> {
  if (CONTAINER_RESOURCES.has(name)) return;
  yield* validateResourceName(name, at);
  if (!name.includes("/")) {
    if (!isHugePages(name)) yield invalid(at, name, "must be a standard resource for containers");
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    yield invalid(at, name, "doesn't follow extended resource name standard");
  }
}

function* validatePodResourceName(name: string, at: string): Iterable<FieldError> {
  const problems = [...validateResourceName(name, at)];
  if (problems.length > 0) return yield* problems;
  if (!isPodLevelResource(name)) yield notSupported(at, name, POD_LEVEL_RESOURCES);
}

function* validateClaimUses(claims: readonly ResourceClaim[], claimNames: ReadonlySet<string>, at: string): Iterable<FieldError> {
  const seen: UsedClaims = { keys: new Set(), requests: new Map() };
  for (const [index, { name = "", request }] of claims.entries()) {
    const here = `${at}[${index}]`;
    if (name === "") {
      yield required(here);
      continue;
    }
    yield* validateClaimUsedOnce(name, request, seen, here);
    if (!claimNames.has(name)) yield unknownClaim(name, claimNames, here);
  }
}

interface UsedClaims {
  /** "claim" or "claim/request". */
  readonly keys: Set<string>;
  /** How many requests of a claim are used. */
  readonly requests: Map<string, number>;
}

/** A claim may be used as a whole once, or each of its requests once. */
function* validateClaimUsedOnce(name: string, request: string | undefined, seen: UsedClaims, at: string): Iterable<FieldError> {
  const { keys, requests } = seen;
  if (keys.has(name)) return yield duplicate(at, name);
  if (request) yield* dnsLabel(request, `${at}.request`);
  const key = request ? `${name}/${request}` : name;
  const usedRequests = requests.get(name) ?? 0;
  if (keys.has(key)) yield duplicate(at, key);
  else if (request) requests.set(name, usedRequests + 1);
  else for (let used = 0; used < usedRequests; used++) yield duplicate(at, name);
  keys.add(key);
}

function unknownClaim(name: string, claimNames: ReadonlySet<string>, at: string): FieldError {
  const known = claimNames.size === 0 ? " which is empty" : `: ${[...claimNames].toSorted().join(", ")}`;
  const error = notFoundField(at, name);
  return { ...error, body: `${error.body}: must be one of the names in pod.spec.resourceClaims${known}` };
}

/** All containers together fit into the Pod-level requests, and each of them into its limits. */
function* validateContainersFit(resources: ResourceRequirements, spec: PodSpec, at: string): Iterable<FieldError> {
  yield* validateSumFits(aggregateOverContainers(spec, "requests"), resources.requests ?? {}, "requests", at);
  const hugePages = [...aggregateOverContainers(spec, "limits")].filter(([name]) => isHugePages(name));
  yield* validateSumFits(hugePages, resources.limits ?? {}, "limits", at);
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [name, text] of Object.entries(container.resources?.limits ?? {})) {
      const limit = resources.limits !== undefined && Object.hasOwn(resources.limits, name) ? resources.limits[name] : undefined;
      if (limit === undefined || compareQuantities(readQuantity(text), readQuantity(limit)) <= 0) continue;
      yield invalid(`${at}.containers[${index}][${name}].limits`, text, `must be less than or equal to pod limits of ${limit}`);
    }
  }
}

function* validateSumFits(
  sums: Iterable<readonly [string, Quantity]>,
  list: ResourceList,
  part: "requests" | "limits",
  at: string,
): Iterable<FieldError> {
  for (const [name, sum] of sums) {
    const text = Object.hasOwn(list, name) ? list[name] : undefined;
    if (text === undefined || compareQuantities(sum, readQuantity(text)) <= 0) continue;
    yield invalid(`${at}.${part}[${name}]`, text, `must be greater than or equal to aggregate container ${part} of ${formatQuantity(sum)}`);
  }
}
