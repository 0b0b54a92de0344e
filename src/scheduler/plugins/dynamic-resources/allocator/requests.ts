/**
 * The requests of claims, prepared for the search: the device class and number of devices of every request or alternative. Whatever makes
 * allocation impossible on every node throws an AllocationError, with upstream's messages.
 */
import type {
  DeviceClass,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
} from "../../../../api/generated/resource.k8s.io/v1.ts";
import type { CapacityRequests } from "./capacity.ts";
import { constraintOf, type Constraint, type RequestReference } from "./constraints.ts";
import { AllocationError, type Candidate } from "./model.ts";

/** Maximum devices of an allocation: API limit of `status.allocation.devices.results`. */
export const RESULTS_MAX = 32;

/** A request, or one of its alternatives. */
export interface PreparedRequest extends RequestReference {
  readonly claimIndex: number;
  readonly requestIndex: number;
  /** "gpu", or "gpu/large" for an alternative. */
  readonly fullName: string;
  readonly deviceClass: DeviceClass;
  readonly selectors: readonly DeviceSelector[];
  readonly tolerations: readonly DeviceToleration[];
  readonly capacity: CapacityRequests;
  readonly hasAdminAccess: boolean;
  /** All matching devices, if all are requested. */
  readonly all: readonly Candidate[] | undefined;
  readonly count: number;
}

export interface PreparedClaim {
  readonly claim: ResourceClaim;
  /** "namespace/name" */
  readonly key: string;
  /** One list of alternatives per request; those of an exact request have one member. */
  readonly requests: readonly (readonly PreparedRequest[])[];
  readonly constraints: readonly Constraint[];
}

export interface Preparing {
  deviceClass(name: string): DeviceClass | undefined;
  /** All devices that match a request, for `allocationMode: All`. `at` names the request in errors. */
  matching(request: Omit<PreparedRequest, "all" | "count">, claimKey: string): readonly Candidate[];
}

export function prepareClaims(claims: readonly ResourceClaim[], preparing: Preparing): readonly PreparedClaim[] {
  return claims.map((claim, claimIndex) => prepareClaim(claim, claimIndex, preparing));
}

/** Whether they are the same for every node: none asks for all devices of the node, and there are no constraints, which count devices. */
export function areSameOnAllNodes(claims: readonly PreparedClaim[]): boolean {
  return claims.every(
    ({ requests, constraints }) =>
      constraints.length === 0 && requests.every((alternatives) => alternatives.every(({ all }) => all === undefined)),
  );
}

function prepareClaim(claim: ResourceClaim, claimIndex: number, preparing: Preparing): PreparedClaim {
  const { namespace = "", name } = claim.metadata;
  const key = `${namespace}/${name}`;
  const { requests: written = [], constraints = [] } = claim.spec.devices ?? {};
  const requests = written.map((request, requestIndex) =>
    alternativesOf(request).map(([alternative, parts]) => {
      const base = { claimIndex, requestIndex, name: request.name, alternative, key };
      return prepareRequest(base, parts, preparing);
    }),
  );
  const least = requests.reduce((sum, alternatives) => sum + Math.min(...alternatives.map(({ count }) => count)), 0);
  if (least > RESULTS_MAX)
    throw new AllocationError(`claim ${key}: number of requested devices ${least} exceeds the claim limit of ${RESULTS_MAX}`);
  return { claim, key, requests, constraints: constraints.map((constraint, index) => prepared(constraintOf(constraint), key, index)) };
}

function prepared(constraint: Constraint | undefined, key: string, index: number): Constraint {
  if (constraint !== undefined) return constraint;
  throw new AllocationError(`claim ${key}, constraint #${index}: empty constraint (unsupported constraint type?)`);
}

type RequestParts = ExactDeviceRequest | Omit<DeviceSubRequest, "name">;

/** With the names of the alternatives. */
function alternativesOf({ exactly, firstAvailable = [] }: DeviceRequest): readonly (readonly [string | undefined, RequestParts])[] {
  if (firstAvailable.length > 0) return firstAvailable.map((alternative) => [alternative.name, alternative]);
  return [[undefined, exactly ?? { deviceClassName: "" }]];
}

interface RequestBase extends RequestReference {
  readonly claimIndex: number;
  readonly requestIndex: number;
  readonly key: string;
}

function prepareRequest({ key, ...base }: RequestBase, parts: RequestParts, preparing: Preparing): PreparedRequest {
  const { selectors = [], tolerations = [], capacity, deviceClassName, allocationMode = "ExactCount", count = 1 } = parts;
  const at = `claim ${key}, request ${base.alternative ?? base.name}`;
  for (const [index, { cel }] of selectors.entries()) {
    if (cel === undefined) throw new AllocationError(`${at}, selector #${index}: CEL expression empty (unsupported selector type?)`);
  }
  if (deviceClassName === "") throw new AllocationError(`${at}: missing device class name (unsupported request type?)`);
  const deviceClass = preparing.deviceClass(deviceClassName);
  if (deviceClass === undefined) {
    const notFound = `deviceclass.resource.k8s.io "${deviceClassName}" not found`;
    throw new AllocationError(`${at}: could not retrieve device class ${deviceClassName}: ${notFound}`);
  }
  const request = {
    ...base,
    fullName: base.alternative === undefined ? base.name : `${base.name}/${base.alternative}`,
    ...{ deviceClass, selectors, tolerations },
    capacity: capacity?.requests ?? {},
    hasAdminAccess: "adminAccess" in parts && parts.adminAccess === true,
  };
  if (allocationMode === "ExactCount") return { ...request, all: undefined, count };
  if (allocationMode !== "All") throw new AllocationError(`${at}: unsupported count mode ${String(allocationMode)}`);
  const all = preparing.matching(request, key);
  return { ...request, all, count: all.length };
}
