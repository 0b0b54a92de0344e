/**
 * The devices that claims have: exclusively, or a share of their capacity. Maintained incrementally, because there are far more claims than
 * change between two decisions. Devices with admin access are not used up and do not count.
 */
import type { AllocationResult, DeviceRequestAllocationResult } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { isZero, parseQuantity, subtractQuantities, type Quantity } from "../../../../api/machinery/quantity.ts";
import { addAmounts, type Amounts } from "./capacity.ts";
import { deviceKeyOf, type DeviceKey } from "./model.ts";

interface Shares {
  count: number;
  amounts: Amounts;
}

export class AllocatedDevices {
  /** By the uid of the claim. */
  readonly #claims = new Map<string, readonly DeviceRequestAllocationResult[]>();
  /** Number of claims that have the device exclusively: more than one only if others than the scheduler allocate. */
  readonly #exclusive = new Map<DeviceKey, number>();
  readonly #shared = new Map<DeviceKey, Shares>();

  /** Replaces what the claim had. Undefined: it has nothing. */
  set(claimUid: string, allocation: AllocationResult | undefined): void {
    const results = allocation?.devices?.results ?? [];
    const before = this.#claims.get(claimUid) ?? [];
    if (before === results) return;
    for (const result of before) this.#remove(result);
    for (const result of results) this.#add(result);
    if (results.length === 0) this.#claims.delete(claimUid);
    else this.#claims.set(claimUid, results);
  }

  isExclusive(device: DeviceKey): boolean {
    return this.#exclusive.has(device);
  }

  /** What all shares of the device consume together; undefined if it has none. */
  consumed(device: DeviceKey): Amounts | undefined {
    return this.#shared.get(device)?.amounts;
  }

  isAllocated(device: DeviceKey): boolean {
    return this.#exclusive.has(device) || this.#shared.has(device);
  }

  #add(result: DeviceRequestAllocationResult): void {
    if (result.adminAccess === true) return;
    const key = keyOf(result);
    if (result.shareID === undefined) {
      this.#exclusive.set(key, (this.#exclusive.get(key) ?? 0) + 1);
      return;
    }
    const shares = this.#shared.get(key) ?? { count: 0, amounts: new Map<string, Quantity>() };
    shares.count++;
    shares.amounts = addAmounts(shares.amounts, amountsOf(result));
    this.#shared.set(key, shares);
  }

  #remove(result: DeviceRequestAllocationResult): void {
    if (result.adminAccess === true) return;
    const key = keyOf(result);
    if (result.shareID === undefined) {
      const left = (this.#exclusive.get(key) ?? 0) - 1;
      if (left > 0) this.#exclusive.set(key, left);
      else this.#exclusive.delete(key);
      return;
    }
    const shares = this.#shared.get(key);
    if (shares === undefined) return;
    shares.count--;
    shares.amounts = subtracted(shares.amounts, amountsOf(result));
    if (shares.count <= 0) this.#shared.delete(key);
  }
}

function keyOf({ driver, pool, device }: DeviceRequestAllocationResult): DeviceKey {
  return deviceKeyOf(driver, pool, device);
}

function amountsOf({ consumedCapacity = {} }: DeviceRequestAllocationResult): Amounts {
  return new Map(Object.entries(consumedCapacity).map(([name, amount]) => [name, parseQuantity(amount)]));
}

function subtracted(from: Amounts, amounts: Amounts): Amounts {
  const left = new Map(from);
  for (const [name, amount] of amounts) {
    const before = left.get(name);
    if (before === undefined) continue;
    const rest = subtractQuantities(before, amount);
    if (isZero(rest)) left.delete(name);
    else left.set(name, rest);
  }
  return left;
}
