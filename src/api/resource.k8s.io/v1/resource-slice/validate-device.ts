/** Validation of one device of a slice: attributes, capacity, consumed counters, and the nodes that can access it. */
import { deepEqual } from "../../../../base/deep.ts";
import { dnsLabel, dnsSubdomain } from "../../../core/v1/pod/validation/checks.ts";
import { validateNodeSelector } from "../../../core/v1/pod/validation/affinity.ts";
import type { Counter, Device, DeviceAttribute, DeviceCounterConsumption } from "../../../generated/resource.k8s.io/v1.ts";
import { invalid, required, tooLong, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { DNS_LABEL_LENGTH_MAX, isLongerThan } from "../../../machinery/names.ts";
import { QUALIFIED_NAME_LENGTH_MAX_BYTES, validateQualifiedName } from "../device-names.ts";
import { validateBindingConditions, validateTaint } from "../device-taints.ts";
import { internalForm } from "../internal-form.ts";
import { validateList, validateMap, validateSet, type SetRules } from "../limited-lists.ts";
import { validateCapacity } from "./validate-capacity.ts";

export const ATTRIBUTES_AND_CAPACITIES_MAX = 32;
const ATTRIBUTE_VALUES_MAX = 48;
export const ATTRIBUTE_LENGTH_MAX_BYTES = 64;
const TAINTS_MAX = 16;
const CONSUMED_COUNTER_SETS_MAX = 2;
const COUNTERS_MAX = 32;
/** A version as semver.org describes it: three numbers, pre-release, build metadata. */
const SEMANTIC_VERSION =
  /^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;
const ONE_PLACE =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

export interface DeviceRules {
  /** The device of this name before an update. */
  readonly previous?: Device | undefined;
  /** perDeviceNodeSelection: devices have node selections of their own. */
  readonly perDeviceNodeSelection: boolean;
}

export function* validateDevice(device: Device, { previous, perDeviceNodeSelection }: DeviceRules, at: string): Iterable<FieldError> {
  yield* dnsLabel(device.name, `${at}.name`);
  yield* validateDescription(device, at);
  if (previous === undefined || !deepEqual(device.taints, previous.taints)) {
    yield* validateList(device.taints, { max: TAINTS_MAX, validate: validateTaint }, `${at}.taints`);
  }
  yield* validateSet(device.consumesCounters, CONSUMPTION, `${at}.consumesCounters`);
  if (perDeviceNodeSelection) yield* validatePlace(device, at);
  else if (device.nodeName !== undefined || device.nodeSelector !== undefined || device.allNodes !== undefined) {
    const condition = "can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    yield invalid(at, null, `\`nodeName\`, \`nodeSelector\` and \`allNodes\` ${condition}`);
  }
  yield* validateBindingConditions(device, at);
}

function* validateDescription({ attributes = {}, capacity = {}, allowMultipleAllocations }: Device, at: string): Iterable<FieldError> {
  const attributeCount = Object.keys(attributes).length;
  const count = attributeCount + Object.keys(capacity).length;
  if (count > ATTRIBUTES_AND_CAPACITIES_MAX) {
    yield invalid(at, count, `the total number of attributes and capacities must not exceed ${ATTRIBUTES_AND_CAPACITIES_MAX}`);
  }
  if (attributeCount > ATTRIBUTE_VALUES_MAX) {
    yield invalid(at, attributeCount, `the total number of attribute values must not exceed ${ATTRIBUTE_VALUES_MAX}`);
  }
  const rules = { keyLengthMax: QUALIFIED_NAME_LENGTH_MAX_BYTES, validateKey: validateQualifiedName };
  yield* validateMap(attributes, { ...rules, validateValue: validateAttribute }, `${at}.attributes`);
  const sharing = { isShared: allowMultipleAllocations === true };
  yield* validateMap(capacity, { ...rules, validateValue: (value, here) => validateCapacity(value, sharing, here) }, `${at}.capacity`);
}

function* validateAttribute(attribute: DeviceAttribute, at: string): Iterable<FieldError> {
  const { int, bool, string, version } = attribute;
  if (string !== undefined) yield* validateLength(string, `${at}.string`);
  if (version !== undefined) {
    if (!SEMANTIC_VERSION.test(version)) {
      yield invalid(`${at}.version`, version, "must be a string compatible with semver.org spec 2.0.0");
    }
    yield* validateLength(version, `${at}.version`);
  }
  const count = [int, bool, string, version].filter((value) => value !== undefined).length;
  if (count === 1) return;
  const shown = count === 0 ? "" : internalForm(attribute, "io.k8s.api.resource.v1.DeviceAttribute");
  yield invalid(at, shown, "exactly one value must be specified");
}

function* validateLength(text: string, at: string): Iterable<FieldError> {
  if (isLongerThan(text, ATTRIBUTE_LENGTH_MAX_BYTES)) yield tooLong(at, ATTRIBUTE_LENGTH_MAX_BYTES);
}

const CONSUMPTION: SetRules<DeviceCounterConsumption> = {
  max: CONSUMED_COUNTER_SETS_MAX,
  validate: validateConsumption,
  keyOf: ({ counterSet }) => counterSet,
};

function* validateConsumption({ counterSet, counters }: DeviceCounterConsumption, at: string): Iterable<FieldError> {
  if (counterSet === "") yield required(`${at}.counterSet`);
  else yield* dnsLabel(counterSet, `${at}.counterSet`);
  yield* validateCounters(counters, `${at}.counters`);
}

export function* validateCounters(counters: Readonly<Record<string, Counter>> | undefined, at: string): Iterable<FieldError> {
  if (Object.keys(counters ?? {}).length === 0) return yield required(at);
  yield* validateMap(counters, { max: COUNTERS_MAX, keyLengthMax: DNS_LABEL_LENGTH_MAX, validateKey: dnsLabel }, at);
}

/** On one node, on those of a selector, or on all. */
function* validatePlace({ nodeName, nodeSelector, allNodes }: Device, at: string): Iterable<FieldError> {
  const places: string[] = [];
  if (nodeName !== undefined && nodeName !== "") {
    places.push("`nodeName`");
    yield* dnsSubdomain(nodeName, `${at}.nodeName`);
  } else if (nodeName === "") {
    yield invalid(`${at}.nodeName`, nodeName, "must not be empty");
  }
  if (nodeSelector !== undefined) {
    places.push("`nodeSelector`");
    yield* errorsOf((errors) => validateNodeSelector(errors, nodeSelector, `${at}.nodeSelector`));
  }
  if (allNodes === true) places.push("`allNodes`");
  else if (allNodes === false) yield invalid(`${at}.allNodes`, allNodes, "must be either unset or set to true");
  if (places.length === 0) yield required(at, ONE_PLACE);
  else if (places.length > 1) yield invalid(at, `{${places.join(", ")}}`, ONE_PLACE);
}
