/** Validation of the spec of a claim and of a template. */
import { dnsLabel, dnsSubdomain } from "../../../core/v1/pod/validation/checks.ts";
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from "../../../generated/resource.k8s.io/v1.ts";
import { invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateConfiguration, validateSelectors } from "../device-configuration.ts";
import { validateFullyQualifiedName } from "../device-names.ts";
import { validateTolerations } from "../device-taints.ts";
import { validateList, validateSet, type SetRules } from "../limited-lists.ts";
import { REQUESTS_MAX, requestNamesOf, validateRequestReferences, type RequestNames } from "./request-names.ts";

const ALTERNATIVES_MAX = 8;
const CONSTRAINTS_MAX = 32;
export const CONFIGURATIONS_MAX = 32;
const ALLOCATION_MODES = ["All", "ExactCount"];
const ONE_KIND_OF_REQUEST = "exactly one of `exactly` or `firstAvailable` is required";

export function validateClaimSpec({ devices = {} }: ResourceClaimSpec, at: string): Iterable<FieldError> {
  return validateDeviceClaim(devices, `${at}.devices`);
}

function* validateDeviceClaim(claim: DeviceClaim, at: string): Iterable<FieldError> {
  const names = requestNamesOf(claim);
  const ofConstraint = (item: DeviceConstraint, here: string): Iterable<FieldError> => validateConstraint(item, names, here);
  const ofConfiguration = (item: DeviceClaimConfiguration, here: string): Iterable<FieldError> =>
    validateClaimConfiguration(item, names, here);
  yield* validateSet(claim.requests, { max: REQUESTS_MAX, validate: validateRequest, keyOf: ({ name }) => name }, `${at}.requests`);
  yield* validateList(claim.constraints, { max: CONSTRAINTS_MAX, validate: ofConstraint }, `${at}.constraints`);
  yield* validateList(claim.config, { max: CONFIGURATIONS_MAX, validate: ofConfiguration }, `${at}.config`);
}

function* validateRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, at: string): Iterable<FieldError> {
  yield* dnsLabel(name, `${at}.name`);
  const hasAlternatives = firstAvailable.length > 0;
  if (hasAlternatives && exactly !== undefined) {
    yield invalid(at, null, `${ONE_KIND_OF_REQUEST}, but multiple fields are set`);
  } else if (hasAlternatives) {
    yield* validateSet(firstAvailable, ALTERNATIVES, `${at}.firstAvailable`);
  } else if (exactly !== undefined) {
    yield* validateWanted(exactly, `${at}.exactly`);
  } else {
    yield required(at, ONE_KIND_OF_REQUEST);
  }
}

const ALTERNATIVES: SetRules<DeviceSubRequest> = { max: ALTERNATIVES_MAX, validate: validateAlternative, keyOf: ({ name }) => name };

function* validateAlternative(alternative: DeviceSubRequest, at: string): Iterable<FieldError> {
  yield* dnsLabel(alternative.name, `${at}.name`);
  yield* validateWanted(alternative, at);
}

/** Shared by requests and alternatives. */
function* validateWanted(wanted: ExactDeviceRequest | DeviceSubRequest, at: string): Iterable<FieldError> {
  if (wanted.deviceClassName === "") yield required(`${at}.deviceClassName`);
  else yield* dnsSubdomain(wanted.deviceClassName, `${at}.deviceClassName`);
  yield* validateSelectors(wanted.selectors, { stored: false }, `${at}.selectors`);
  yield* validateCount(wanted, at);
  yield* validateTolerations(wanted.tolerations, `${at}.tolerations`);
}

function* validateCount({ allocationMode = "", count = 0 }: { allocationMode?: string; count?: number }, at: string): Iterable<FieldError> {
  if (allocationMode === "All") {
    if (count !== 0) yield invalid(`${at}.count`, count, "must not be specified when allocationMode is 'All'");
  } else if (allocationMode === "ExactCount") {
    if (count <= 0) yield invalid(`${at}.count`, count, "must be greater than zero");
  } else {
    yield notSupported(`${at}.allocationMode`, allocationMode, ALLOCATION_MODES);
  }
}

function* validateConstraint(constraint: DeviceConstraint, names: RequestNames, at: string): Iterable<FieldError> {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  yield* validateRequestReferences(requests, names, `${at}.requests`);
  if (matchAttribute !== undefined) {
    yield* validateFullyQualifiedName(matchAttribute, `${at}.matchAttribute`);
  } else if (distinctAttribute !== undefined) {
    yield* validateFullyQualifiedName(distinctAttribute, `${at}.distinctAttribute`);
  } else {
    // Upstream reports this for none, and nothing for both.
    yield required(at, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set');
  }
}

function* validateClaimConfiguration(configuration: DeviceClaimConfiguration, names: RequestNames, at: string): Iterable<FieldError> {
  yield* validateRequestReferences(configuration.requests, names, `${at}.requests`);
  yield* validateConfiguration(configuration, { stored: false }, at);
}
