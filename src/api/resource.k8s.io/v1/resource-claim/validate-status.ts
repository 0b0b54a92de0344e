/**
 * Validation of a claim's status: its consumers, the allocation, and the driver status of the devices. An existing allocation can be
 * removed, but not changed.
 */
import { deepEqual } from "../../../../base/deep.ts";
import { validateNodeSelector } from "../../../core/v1/pod/validation/affinity.ts";
import { dnsLabel } from "../../../core/v1/pod/validation/checks.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from "../../../generated/resource.k8s.io/v1.ts";
import { validateConditions } from "../../../machinery/conditions.ts";
import {
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  type FieldError,
} from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateInterfaceAddress } from "../../../machinery/ip/ip-validation.ts";
import { isLongerThan } from "../../../machinery/names.ts";
import { validateConfiguration, validateRawObject } from "../device-configuration.ts";
import { validateDriverName, validatePoolName, validateShareId } from "../device-names.ts";
import { validateBindingConditions } from "../device-taints.ts";
import { internalForm } from "../internal-form.ts";
import { validateList, validateSet } from "../limited-lists.ts";
import { requestNamesOf, validateRequestReference, validateRequestReferences, type RequestNames } from "./request-names.ts";
import { sharedDeviceForm, sharedDeviceKey } from "./shared-device.ts";
import { CONFIGURATIONS_MAX } from "./validate-spec.ts";

const CONSUMERS_MAX = 256;
const RESULTS_MAX = 32;
/** Configuration of the classes and of the claim. */
const ALLOCATED_CONFIGURATIONS_MAX = 2 * CONFIGURATIONS_MAX;
const CONDITIONS_MAX = 8;
const DATA_LENGTH_MAX_BYTES = 10 * 1024;
const INTERFACE_NAME_LENGTH_MAX_BYTES = 256;
const HARDWARE_ADDRESS_LENGTH_MAX_BYTES = 128;
const ADDRESSES_MAX = 16;
const SOURCES = ["FromClaim", "FromClass"];

const RESERVED_FOR_AT = "status.reservedFor";
const ALLOCATION_AT = "status.allocation";

export function* validateClaimStatus(next: ResourceClaim, previous: ResourceClaim): Iterable<FieldError> {
  const { status = {} } = next;
  yield* validateSet(status.reservedFor, { max: CONSUMERS_MAX, validate: validateConsumer, keyOf: ({ uid }) => uid }, RESERVED_FOR_AT);
  yield* validateDevices(status);
  yield* validateReservation(next, previous);
  if (status.allocation === undefined) return;
  const before = previous.status?.allocation;
  if (before === undefined) {
    yield* validateAllocation(status.allocation, requestNamesOf(next.spec.devices), ALLOCATION_AT);
  } else if (!deepEqual(status.allocation, before)) {
    yield immutable(ALLOCATION_AT, internalForm(status.allocation, "io.k8s.api.resource.v1.AllocationResult"));
  }
}

function* validateConsumer({ resource, name, uid }: ResourceClaimConsumerReference, at: string): Iterable<FieldError> {
  if (resource === "") yield required(`${at}.resource`);
  if (name === "") yield required(`${at}.name`);
  if (uid === "") yield required(`${at}.uid`);
}

function* validateDevices({ allocation, devices }: ResourceClaimStatus): Iterable<FieldError> {
  const allocated = new Set((allocation?.devices?.results ?? []).map(sharedDeviceKey));
  const validate = (device: AllocatedDeviceStatus, at: string): Iterable<FieldError> => validateDevice(device, allocated, at);
  yield* validateSet(devices, { validate, keyOf: sharedDeviceKey, show: sharedDeviceForm }, "status.devices");
}

/** Only an allocated claim can be used, and a terminating one accepts no new consumers. */
function* validateReservation({ metadata, status = {} }: ResourceClaim, previous: ResourceClaim): Iterable<FieldError> {
  const consumers = status.reservedFor ?? [];
  if (consumers.length === 0) return;
  if (status.allocation === undefined) {
    yield forbidden(RESERVED_FOR_AT, "may not be specified when `allocated` is not set");
  } else if (metadata.deletionTimestamp !== undefined) {
    const before = new Set((previous.status?.reservedFor ?? []).map(consumerKey));
    if (consumers.every((consumer) => before.has(consumerKey(consumer)))) return;
    yield forbidden(RESERVED_FOR_AT, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
  }
}

function consumerKey({ apiGroup = "", resource, name, uid }: ResourceClaimConsumerReference): string {
  return JSON.stringify([apiGroup, resource, name, uid]);
}

function* validateAllocation({ devices = {}, nodeSelector }: AllocationResult, names: RequestNames, at: string): Iterable<FieldError> {
  const ofResult = (item: DeviceRequestAllocationResult, here: string): Iterable<FieldError> => validateResult(item, names, here);
  yield* validateList(devices.results, { max: RESULTS_MAX, validate: ofResult }, `${at}.devices.results`);
  const ofConfiguration = (item: DeviceAllocationConfiguration, here: string): Iterable<FieldError> => validateAllocated(item, names, here);
  yield* validateList(devices.config, { max: ALLOCATED_CONFIGURATIONS_MAX, validate: ofConfiguration }, `${at}.devices.config`);
  if (nodeSelector !== undefined) yield* errorsOf((errors) => validateNodeSelector(errors, nodeSelector, `${at}.nodeSelector`));
}

function* validateResult(result: DeviceRequestAllocationResult, names: RequestNames, at: string): Iterable<FieldError> {
  yield* validateRequestReference(result.request, names, `${at}.request`);
  yield* validateDriverName(result.driver, `${at}.driver`);
  yield* validatePoolName(result.pool, `${at}.pool`);
  yield* dnsLabel(result.device, `${at}.device`);
  yield* validateBindingConditions(result, at);
  if (result.shareID !== undefined) yield* validateShareId(result.shareID, `${at}.shareID`);
}

function* validateAllocated(configuration: DeviceAllocationConfiguration, names: RequestNames, at: string): Iterable<FieldError> {
  const source: string = configuration.source;
  if (source === "") yield required(`${at}.source`);
  else if (!SOURCES.includes(source)) yield notSupported(`${at}.source`, source, SOURCES);
  yield* validateRequestReferences(configuration.requests, names, `${at}.requests`);
  yield* validateConfiguration(configuration, { stored: false }, at);
}

function* validateDevice(device: AllocatedDeviceStatus, allocated: ReadonlySet<string>, at: string): Iterable<FieldError> {
  const { shareID, conditions = [], data, networkData } = device;
  yield* validateDriverName(device.driver, `${at}.driver`);
  yield* validatePoolName(device.pool, `${at}.pool`);
  yield* dnsLabel(device.device, `${at}.device`);
  if (shareID !== undefined) yield* validateShareId(shareID, `${at}.shareID`);
  if (!allocated.has(sharedDeviceKey(device))) {
    yield invalid(at, sharedDeviceForm(device), "must be an allocated device in the claim");
  }
  if (conditions.length > CONDITIONS_MAX) yield tooMany(`${at}.conditions`, conditions.length, CONDITIONS_MAX);
  yield* validateConditions(conditions, `${at}.conditions`);
  if (data !== undefined && data !== null) yield* validateRawObject(data, DATA_LENGTH_MAX_BYTES, `${at}.data`);
  if (networkData !== undefined) yield* validateNetworkData(networkData, `${at}.networkData`);
}

function* validateNetworkData({ interfaceName = "", ips, hardwareAddress = "" }: NetworkDeviceData, at: string): Iterable<FieldError> {
  if (isLongerThan(interfaceName, INTERFACE_NAME_LENGTH_MAX_BYTES)) yield tooLong(`${at}.interfaceName`, INTERFACE_NAME_LENGTH_MAX_BYTES);
  if (isLongerThan(hardwareAddress, HARDWARE_ADDRESS_LENGTH_MAX_BYTES)) {
    yield tooLong(`${at}.hardwareAddress`, HARDWARE_ADDRESS_LENGTH_MAX_BYTES);
  }
  yield* validateSet(ips, { max: ADDRESSES_MAX, validate: validateAddress, keyOf: (address) => address }, `${at}.ips`);
}

function* validateAddress(address: string, at: string): Iterable<FieldError> {
  for (const wrong of validateInterfaceAddress(address)) yield invalid(at, address, wrong);
}
