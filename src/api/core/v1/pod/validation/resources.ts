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
import type { FieldErrors } from "../../../../machinery/findings.ts";
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

type NameRule = (errors: FieldErrors, name: string, at: string) => void;

export interface Requirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
  readonly claims?: readonly ResourceClaim[];
}

/** Validates the resources of a container. `claimNames` are the claims of its Pod. */
export function validateContainerResources(
  errors: FieldErrors,
  requirements: Requirements,
  claimNames: ReadonlySet<string>,
  at: string,
): void {
  validateRequirements(errors, requirements, validateContainerResourceName, claimNames, at);
}

/** Validates the Pod-level resources, and that the containers fit into them. */
export function validatePodResources(errors: FieldErrors, resources: ResourceRequirements, spec: PodSpec, at: string): void {
  if (spec.os?.name === "windows") return errors.add(forbidden(at, "may not be set for a windows pod"));
  if (resources.claims !== undefined) errors.add(forbidden(`${at}.claims`, "claims may not be set for Resources at pod-level"));
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  validateRequirements(errors, resources, validatePodResourceName, claimNames, at);
  validateContainersFit(errors, resources, spec, at);
}

function validateRequirements(
  errors: FieldErrors,
  { limits = {}, requests = {}, claims = [] }: Requirements,
  validateName: NameRule,
  claimNames: ReadonlySet<string>,
  at: string,
): void {
  for (const [name, text] of Object.entries(limits)) {
    if (isPlain(name, text, text)) continue;
    validateAmount(errors, name, readQuantity(text), validateName, `${at}.limits[${name}]`);
  }
  for (const [name, text] of Object.entries(requests)) {
    if (isPlain(name, text, limits[name])) continue;
    const here = `${at}.requests[${name}]`;
    validateAmount(errors, name, readQuantity(text), validateName, here, () =>
      validateAgainstLimit(errors, name, readQuantity(text), limits, at),
    );
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory"))
    errors.add(forbidden(at, "HugePages require cpu or memory"));
  validateClaimUses(errors, claims, claimNames, `${at}.claims`);
}

/** Fast path: nearly all amounts are of these two kinds and valid. */
function isPlain(name: string, text: string, limitText: string | undefined): boolean {
  if (name !== "cpu" && name !== "memory") return false;
  const quantity = readQuantity(text);
  if (signOf(quantity) < 0) return false;
  return limitText === undefined || limitText === text || compareQuantities(quantity, readQuantity(limitText)) <= 0;
}

/** `between` are errors between those of the amount and those of its huge pages: the order is upstream's. */
function validateAmount(
  errors: FieldErrors,
  name: string,
  quantity: Quantity,
  validateName: NameRule,
  at: string,
  between?: () => void,
): void {
  validateName(errors, name, at);
  validateResourceQuantity(errors, name, quantity, at);
  between?.();
  if (isHugePages(name) && !isMultipleOfPage(name, quantity)) {
    const text = formatQuantity(quantity);
    errors.add(invalid(at, text, `${text} is not positive integer multiple of ${name}`));
  }
}

/** Non-negative, and an integer for integer resources. */
export function validateResourceQuantity(errors: FieldErrors, name: string, quantity: Quantity, at: string): void {
  if (signOf(quantity) < 0) errors.add(invalid(at, formatQuantity(quantity), "must be greater than or equal to 0"));
  if ((COUNTED_RESOURCES.has(name) || isExtendedResource(name)) && scaledValue(quantity, MILLI) % 1000n !== 0n) {
    errors.add(invalid(at, formatQuantity(quantity), "must be an integer"));
  }
}

function validateAgainstLimit(errors: FieldErrors, name: string, request: Quantity, limits: ResourceList, at: string): void {
  const limitText = Object.hasOwn(limits, name) ? limits[name] : undefined;
  const requestsAt = `${at}.requests`;
  if (limitText === undefined) {
    if (!isOvercommitAllowed(name)) errors.add(required(`${at}.limits`, "Limit must be set for non overcommitable resources"));
    return;
  }
  const limit = readQuantity(limitText);
  const order = compareQuantities(request, limit);
  if (order !== 0 && !isOvercommitAllowed(name)) {
    errors.add(invalid(requestsAt, formatQuantity(request), `must be equal to ${name} limit of ${formatQuantity(limit)}`));
  } else if (order > 0) {
    errors.add(invalid(requestsAt, formatQuantity(request), `must be less than or equal to ${name} limit of ${formatQuantity(limit)}`));
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

export function validateResourceName(errors: FieldErrors, name: string, at: string): void {
  const problems = qualifiedName(name, at);
  if (problems.length > 0) return errors.addAll(problems);
  if (!name.includes("/") && !isStandardResource(name))
    errors.add(invalid(at, name, "must be a standard resource type or fully qualified"));
}

/** A container resource name: one of the three, huge pages, or one with a domain. */
export function validateContainerResourceName(errors: FieldErrors, name: string, at: string): void {
  if (CONTAINER_RESOURCES.has(name)) return;
  validateResourceName(errors, name, at);
  if (!name.includes("/")) {
    if (!isHugePages(name)) errors.add(invalid(at, name, "must be a standard resource for containers"));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.add(invalid(at, name, "doesn't follow extended resource name standard"));
  }
}

function validatePodResourceName(errors: FieldErrors, name: string, at: string): void {
  const { count } = errors;
  validateResourceName(errors, name, at);
  if (errors.count > count) return;
  if (!isPodLevelResource(name)) errors.add(notSupported(at, name, POD_LEVEL_RESOURCES));
}

function validateClaimUses(errors: FieldErrors, claims: readonly ResourceClaim[], claimNames: ReadonlySet<string>, at: string): void {
  const seen: UsedClaims = { keys: new Set(), requests: new Map() };
  for (const [index, { name = "", request }] of claims.entries()) {
    const here = `${at}[${index}]`;
    if (name === "") {
      errors.add(required(here));
      continue;
    }
    validateClaimUsedOnce(errors, name, request, seen, here);
    if (!claimNames.has(name)) errors.add(unknownClaim(name, claimNames, here));
  }
}

interface UsedClaims {
  /** "claim" or "claim/request". */
  readonly keys: Set<string>;
  /** How many requests of a claim are used. */
  readonly requests: Map<string, number>;
}

/** A claim may be used as a whole once, or each of its requests once. */
function validateClaimUsedOnce(errors: FieldErrors, name: string, request: string | undefined, seen: UsedClaims, at: string): void {
  const { keys, requests } = seen;
  if (keys.has(name)) return errors.add(duplicate(at, name));
  if (request) errors.addAll(dnsLabel(request, `${at}.request`));
  const key = request ? `${name}/${request}` : name;
  const usedRequests = requests.get(name) ?? 0;
  if (keys.has(key)) errors.add(duplicate(at, key));
  else if (request) requests.set(name, usedRequests + 1);
  else for (let used = 0; used < usedRequests; used++) errors.add(duplicate(at, name));
  keys.add(key);
}

function unknownClaim(name: string, claimNames: ReadonlySet<string>, at: string): FieldError {
  const known = claimNames.size === 0 ? " which is empty" : `: ${[...claimNames].toSorted().join(", ")}`;
  const error = notFoundField(at, name);
  return { ...error, body: `${error.body}: must be one of the names in pod.spec.resourceClaims${known}` };
}

/** All containers together fit into the Pod-level requests, and each of them into its limits. */
function validateContainersFit(errors: FieldErrors, resources: ResourceRequirements, spec: PodSpec, at: string): void {
  validateSumFits(errors, aggregateOverContainers(spec, "requests"), resources.requests ?? {}, "requests", at);
  const hugePages = [...aggregateOverContainers(spec, "limits")].filter(([name]) => isHugePages(name));
  validateSumFits(errors, hugePages, resources.limits ?? {}, "limits", at);
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [name, text] of Object.entries(container.resources?.limits ?? {})) {
      const limit = resources.limits !== undefined && Object.hasOwn(resources.limits, name) ? resources.limits[name] : undefined;
      if (limit === undefined || compareQuantities(readQuantity(text), readQuantity(limit)) <= 0) continue;
      errors.add(invalid(`${at}.containers[${index}][${name}].limits`, text, `must be less than or equal to pod limits of ${limit}`));
    }
  }
}

function validateSumFits(
  errors: FieldErrors,
  sums: Iterable<readonly [string, Quantity]>,
  list: ResourceList,
  part: "requests" | "limits",
  at: string,
): void {
  for (const [name, sum] of sums) {
    const text = Object.hasOwn(list, name) ? list[name] : undefined;
    if (text === undefined || compareQuantities(sum, readQuantity(text)) <= 0) continue;
    errors.add(
      invalid(`${at}.${part}[${name}]`, text, `must be greater than or equal to aggregate container ${part} of ${formatQuantity(sum)}`),
    );
  }
}
