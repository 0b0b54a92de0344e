/**
 * Validation of a device's capacity, and of its request policy: discrete amounts, or a range in steps. Only a device with
 * allowMultipleAllocations has one.
 */
import { readQuantity } from "../../../core/v1/pod/resource-list.ts";
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from "../../../generated/resource.k8s.io/v1.ts";
import { element, forbidden, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { addQuantities, compareQuantities, formatQuantity, scaledValue, type Quantity } from "../../../machinery/quantity.ts";
import { validateSet } from "../limited-lists.ts";

const VALID_VALUES_MAX = 10;

export function* validateCapacity(
  { value, requestPolicy }: DeviceCapacity,
  { isShared }: { readonly isShared: boolean },
  at: string,
): Iterable<FieldError> {
  if (requestPolicy === undefined) return;
  const here = `${at}.requestPolicy`;
  if (isShared) yield* validatePolicy(requestPolicy, readQuantity(value), here);
  else yield forbidden(here, "allowMultipleAllocations must be true");
}

function* validatePolicy(policy: CapacityRequestPolicy, capacity: Quantity, at: string): Iterable<FieldError> {
  const { validValues = [], validRange } = policy;
  const standard = policy.default === undefined ? undefined : readQuantity(policy.default);
  if (validValues.length > 0 && validRange !== undefined) {
    yield forbidden(at, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time');
  } else if (validValues.length > 0) {
    if (standard === undefined) yield required(`${at}.default`, "required when validValues is defined");
    else yield* validateValues(validValues, { standard, capacity }, `${at}.validValues`);
  } else if (validRange !== undefined) {
    if (standard === undefined) yield required(`${at}.default`, "required when validRange is defined");
    else yield* validateRange(validRange, { standard, capacity }, `${at}.validRange`);
  }
}

interface Amounts {
  /** The amount for a claim without one. */
  readonly standard: Quantity;
  /** The total amount. */
  readonly capacity: Quantity;
}

function* validateValues(texts: readonly string[], { standard, capacity }: Amounts, at: string): Iterable<FieldError> {
  const values = texts.map(readQuantity);
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (before !== undefined && isMore(before, value)) {
      yield invalid(element(at, index), formatQuantity(value), "values must be sorted in ascending order");
    }
  }
  const validate = function* (value: Quantity, here: string): Iterable<FieldError> {
    if (!isMore(value, capacity)) return;
    yield invalid(here, formatQuantity(value), `option is larger than capacity value: ${formatQuantity(capacity)}`);
  };
  yield* validateSet(values, { max: VALID_VALUES_MAX, validate, keyOf: (value) => scaledValue(value, 0).toString() }, at);
  const isListed = values.length <= VALID_VALUES_MAX && values.some((value) => compareQuantities(value, standard) === 0);
  if (!isListed) yield invalid(at, formatQuantity(standard), "default value is not valid according to the requestPolicy");
}

function* validateRange(range: Partial<CapacityRequestPolicyRange>, amounts: Amounts, at: string): Iterable<FieldError> {
  if (range.min === undefined) return yield required(`${at}.min`, "required when validRange is defined");
  const { standard, capacity } = amounts;
  const min = readQuantity(range.min);
  const max = range.max === undefined ? undefined : readQuantity(range.max);
  const [minText, capacityText] = [formatQuantity(min), formatQuantity(capacity)];
  if (isMore(min, capacity)) yield invalid(`${at}.min`, minText, `min is larger than capacity value: ${capacityText}`);
  if (isMore(min, standard)) yield invalid(`${at}.min`, formatQuantity(standard), `default is less than min: ${minText}`);
  if (max !== undefined) {
    const maxText = formatQuantity(max);
    if (isMore(min, max)) yield invalid(`${at}.max`, minText, `min is larger than max: ${maxText}`);
    if (isMore(max, capacity)) yield invalid(`${at}.max`, maxText, `max is larger than capacity value: ${capacityText}`);
    if (isMore(standard, max)) yield invalid(`${at}.max`, formatQuantity(standard), `default is more than max: ${maxText}`);
  }
  if (range.step !== undefined) yield* validateStep(readQuantity(range.step), { ...amounts, min, max }, `${at}.step`);
}

/** At least one step fits, and the given amounts are reachable in steps. */
function* validateStep(
  step: Quantity,
  { standard, capacity, min, max }: Amounts & { readonly min: Quantity; readonly max: Quantity | undefined },
  at: string,
): Iterable<FieldError> {
  const stepText = formatQuantity(step);
  const first = addQuantities(min, step);
  if (isMore(first, capacity)) {
    const detail = `one step ${formatQuantity(first)} is larger than capacity value: ${formatQuantity(capacity)}`;
    yield invalid(at, stepText, detail);
  }
  for (const value of max === undefined ? [standard] : [standard, max]) {
    if (isInSteps(value, min, step)) continue;
    const detail = `value is not a multiple of a given step (${stepText}) from (${formatQuantity(min)})`;
    yield invalid(at, formatQuantity(value), detail);
  }
}

/** In integers. A step of zero divides nothing. */
function isInSteps(value: Quantity, min: Quantity, step: Quantity): boolean {
  const [distance, length] = [scaledValue(value, 0) - scaledValue(min, 0), scaledValue(step, 0)];
  return length === 0n ? distance === 0n : distance % length === 0n;
}

function isMore(a: Quantity, b: Quantity): boolean {
  return compareQuantities(a, b) > 0;
}
