/** Validation of a slice as a whole: driver, pool and node selection. Driver, pool and node are immutable; the devices are not. */
import { dnsLabel, dnsSubdomain } from "../../../core/v1/pod/validation/checks.ts";
import { validateNodeSelector } from "../../../core/v1/pod/validation/affinity.ts";
import type { NodeSelector } from "../../../generated/core/v1.ts";
import type { CounterSet, Device, ResourcePool, ResourceSliceSpec } from "../../../generated/resource.k8s.io/v1.ts";
import { immutable, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { validateDriverName, validatePoolName } from "../device-names.ts";
import { internalForm } from "../internal-form.ts";
import { validateSet } from "../limited-lists.ts";
import { validateCounters, validateDevice } from "./validate-device.ts";

const DEVICES_MAX = 128;
/** Maximum devices if any has taints or consumes counters: those are larger. */
const LARGE_DEVICES_MAX = 64;
const COUNTER_SETS_MAX = 8;
const AT = "spec";
const ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

export function* validateSliceSpec(spec: ResourceSliceSpec, previous?: ResourceSliceSpec): Iterable<FieldError> {
  yield* validateDriverName(spec.driver, `${AT}.driver`);
  yield* validatePool(spec.pool, `${AT}.pool`);
  if (previous !== undefined) yield* validateSame(spec, previous);
  yield* validatePlace(spec);
  if (spec.sharedCounters !== undefined && spec.devices !== undefined) {
    yield invalid(AT, "", "only one of `sharedCounters` or `devices` is allowed");
  }
  yield* validateDevices(spec, previous);
  const counterSets = { max: COUNTER_SETS_MAX, validate: validateCounterSet, keyOf: ({ name }: CounterSet) => name };
  yield* validateSet(spec.sharedCounters, counterSets, `${AT}.sharedCounters`);
}

function* validatePool({ name, resourceSliceCount, generation }: ResourcePool, at: string): Iterable<FieldError> {
  yield* validatePoolName(name, `${at}.name`);
  if (resourceSliceCount <= 0) yield invalid(`${at}.resourceSliceCount`, resourceSliceCount, "must be greater than zero");
  if (generation < 0) yield invalid(`${at}.generation`, generation, "must be greater than or equal to zero");
}

function* validateSame(next: ResourceSliceSpec, previous: ResourceSliceSpec): Iterable<FieldError> {
  if (next.pool.name !== previous.pool.name) yield immutable(`${AT}.pool.name`, next.pool.name);
  if (next.driver !== previous.driver) yield immutable(`${AT}.driver`, next.driver);
  if (next.nodeName !== previous.nodeName) yield immutable(`${AT}.nodeName`, next.nodeName);
}

/** On one node, on those of a selector, on all, or per device. */
function* validatePlace({ nodeName, nodeSelector, allNodes, perDeviceNodeSelection }: ResourceSliceSpec): Iterable<FieldError> {
  const places: string[] = [];
  if (nodeName !== undefined && nodeName !== "") {
    places.push("`nodeName`");
    yield* dnsSubdomain(nodeName, `${AT}.nodeName`);
  } else if (nodeName === "") {
    yield invalid(`${AT}.nodeName`, nodeName, "must be either unset or set to a non-empty string");
  }
  if (nodeSelector !== undefined) {
    places.push("`nodeSelector`");
    yield* validateSelector(nodeSelector, `${AT}.nodeSelector`);
  }
  for (const [name, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === true) places.push(`\`${name}\``);
    else if (value === false) yield invalid(`${AT}.${name}`, value, "must be either unset or set to true");
  }
  if (places.length === 0) yield required(AT, ONE_PLACE);
  else if (places.length > 1) yield invalid(AT, `{${places.join(", ")}}`, `${ONE_PLACE}, but multiple fields are set`);
}

/** One term only, so that the selectors of several slices can be combined for a claim with devices of each. */
function* validateSelector(selector: NodeSelector, at: string): Iterable<FieldError> {
  yield* errorsOf((errors) => validateNodeSelector(errors, selector, at));
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length === 1) return;
  const { NodeSelectorTerms: shown } = internalForm(selector, "io.k8s.api.core.v1.NodeSelector") as JsonObject;
  yield invalid(`${at}.nodeSelectorTerms`, shown, "must have exactly one node selector term");
}

function* validateDevices({ devices = [], perDeviceNodeSelection }: ResourceSliceSpec, previous?: ResourceSliceSpec): Iterable<FieldError> {
  const isLarge = devices.some(({ taints = [], consumesCounters = [] }) => taints.length > 0 || consumesCounters.length > 0);
  const before = new Map((previous?.devices ?? []).toReversed().map((device) => [device.name, device]));
  const validate = (device: Device, at: string): Iterable<FieldError> =>
    validateDevice(device, { previous: before.get(device.name), perDeviceNodeSelection: perDeviceNodeSelection === true }, at);
  const max = isLarge ? LARGE_DEVICES_MAX : DEVICES_MAX;
  yield* validateSet(devices, { max, validate, keyOf: ({ name }) => name }, `${AT}.devices`);
}

function* validateCounterSet({ name, counters }: CounterSet, at: string): Iterable<FieldError> {
  if (name === "") yield required(`${at}.name`);
  else yield* dnsLabel(name, `${at}.name`);
  yield* validateCounters(counters, `${at}.counters`);
}
