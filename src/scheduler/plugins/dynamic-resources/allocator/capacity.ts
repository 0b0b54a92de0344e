/**
 * Consumable capacity: how much of a device's capacity a request takes, by the request policy of the device, and whether that much is left.
 * Pure.
 */
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  Device,
  DeviceCapacity,
} from "../../../../api/generated/resource.k8s.io/v1.ts";
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  quantityOf,
  scaledValue,
  type Quantity,
} from "../../../../api/machinery/quantity.ts";

/** By name of the capacity. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Requested amounts, as written in a claim. */
export type CapacityRequests = Readonly<Record<string, string>>;

const NOTHING: Amounts = new Map();

/**
 * The amounts that a request consumes of a device; undefined if the device has no such capacity, a policy forbids the amount, or too little
 * is left. `used`: consumed by others.
 */
export function consumedCapacity(
  device: Device,
  requests: CapacityRequests,
  ...used: readonly (Amounts | undefined)[]
): Amounts | undefined {
  const capacity = device.capacity ?? {};
  for (const name of Object.keys(requests)) if (!Object.hasOwn(capacity, name)) return undefined;
  const consumed = new Map<string, Quantity>();
  for (const [name, ofDevice] of Object.entries(capacity)) {
    const requested = Object.hasOwn(requests, name) ? requests[name] : undefined;
    const amount = amountOf(requested === undefined ? undefined : parseQuantity(requested), ofDevice);
    if (violates(amount, ofDevice.requestPolicy)) return undefined;
    let total = amount;
    for (const others of used) total = addQuantities(total, others?.get(name) ?? quantityOf(0));
    if (compareQuantities(total, parseQuantity(ofDevice.value)) > 0) return undefined;
    consumed.set(name, amount);
  }
  return consumed;
}

export function addAmounts(a: Amounts = NOTHING, b: Amounts = NOTHING): Amounts {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, addQuantities(sum.get(name) ?? quantityOf(0), amount));
  return sum;
}

/** Without a request the policy's default is consumed, or everything. */
function amountOf(requested: Quantity | undefined, { value, requestPolicy }: DeviceCapacity): Quantity {
  if (requested === undefined) return parseQuantity(requestPolicy?.default ?? value);
  if (requestPolicy?.validRange !== undefined) return roundedUpInRange(requested, requestPolicy.validRange);
  return roundedUpToValue(requested, requestPolicy?.validValues ?? []);
}

function roundedUpInRange(requested: Quantity, range: CapacityRequestPolicyRange): Quantity {
  const min = parseQuantity(range.min);
  if (compareQuantities(requested, min) < 0) return min;
  if (range.step === undefined) return requested;
  const [from, step] = [scaledValue(min, 0), scaledValue(parseQuantity(range.step), 0)];
  if (step <= 0n) return requested;
  const steps = (scaledValue(requested, 0) - from + step - 1n) / step;
  return quantityOf(from + steps * step, "BinarySI");
}

/** The values are sorted: validation requires it. */
function roundedUpToValue(requested: Quantity, values: readonly string[]): Quantity {
  for (const text of values) {
    const value = parseQuantity(text);
    if (compareQuantities(requested, value) <= 0) return value;
  }
  return requested;
}

function violates(amount: Quantity, policy: CapacityRequestPolicy | undefined): boolean {
  if (policy === undefined) return false;
  const isEqual = (text: string) => compareQuantities(amount, parseQuantity(text)) === 0;
  if (policy.default !== undefined && isEqual(policy.default)) return false;
  if (policy.validRange !== undefined) return violatesRange(amount, policy.validRange);
  const values = policy.validValues ?? [];
  return values.length > 0 && !values.some(isEqual);
}

function violatesRange(amount: Quantity, { min, max, step }: CapacityRequestPolicyRange): boolean {
  if (max !== undefined && compareQuantities(amount, parseQuantity(max)) > 0) return true;
  if (step === undefined) return false;
  const width = scaledValue(parseQuantity(step), 0);
  return width > 0n && (scaledValue(amount, 0) - scaledValue(parseQuantity(min), 0)) % width !== 0n;
}
