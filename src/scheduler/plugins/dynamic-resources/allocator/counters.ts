/**
 * Shared counters of partitionable devices: devices of a pool that consume the same counters exclude each other once the counters are used
 * up. What allocated devices consume is computed once per decision and pool, because it does not change meanwhile.
 */
import type { Device } from "../../../../api/generated/resource.k8s.io/v1.ts";
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  quantityOf,
  subtractQuantities,
  type Quantity,
} from "../../../../api/machinery/quantity.ts";
import { deviceKeyOf, type DeviceKey, type Pool, type PoolKey } from "./model.ts";

/** By "counter set/counter". */
type Counters = Map<string, Quantity>;

/** What is left of the counters of every pool, without devices that are being allocated. Kept for one decision, for all its nodes. */
export class AvailableCounters {
  readonly #pools = new Map<PoolKey, Counters>();
  readonly #isAllocated: (device: DeviceKey) => boolean;

  constructor(isAllocated: (device: DeviceKey) => boolean) {
    this.#isAllocated = isAllocated;
  }

  of(pool: Pool): ReadonlyMap<string, Quantity> {
    let counters = this.#pools.get(pool.key);
    if (counters === undefined) {
      counters = this.#compute(pool);
      this.#pools.set(pool.key, counters);
    }
    return counters;
  }

  /** May become negative if others than the scheduler allocate: then nothing is left. */
  #compute(pool: Pool): Counters {
    const counters: Counters = new Map();
    for (const [set, { counters: ofSet }] of pool.counterSets) {
      for (const [name, { value }] of Object.entries(ofSet)) counters.set(`${set}/${name}`, parseQuantity(value));
    }
    for (const { spec } of [...pool.slices, ...pool.otherSlices]) {
      for (const device of spec.devices ?? []) {
        if (device.consumesCounters === undefined || !this.#isAllocated(deviceKeyOf(pool.driver, pool.name, device.name))) continue;
        for (const [name, amount] of consumedCounters(device)) {
          const before = counters.get(name);
          if (before !== undefined) counters.set(name, subtractQuantities(before, amount));
        }
      }
    }
    return counters;
  }
}

/** The counters of devices that are being allocated, of one attempt. */
export class CounterLedger {
  readonly #available: AvailableCounters;
  readonly #consumed = new Map<PoolKey, Counters>();

  constructor(available: AvailableCounters) {
    this.#available = available;
  }

  /** False if too little is left: nothing is consumed then. */
  consume(pool: Pool, device: Device): boolean {
    const available = this.#available.of(pool);
    const consumed = this.#consumed.get(pool.key) ?? new Map<string, Quantity>();
    const after = new Map<string, Quantity>();
    for (const [name, amount] of consumedCounters(device)) {
      const total = addQuantities(after.get(name) ?? consumed.get(name) ?? quantityOf(0), amount);
      if (compareQuantities(total, available.get(name) ?? quantityOf(0)) > 0) return false;
      after.set(name, total);
    }
    for (const [name, total] of after) consumed.set(name, total);
    this.#consumed.set(pool.key, consumed);
    return true;
  }

  /** After a successful `consume`. */
  release(pool: Pool, device: Device): void {
    const consumed = this.#consumed.get(pool.key);
    if (consumed === undefined) return;
    for (const [name, amount] of consumedCounters(device)) {
      consumed.set(name, subtractQuantities(consumed.get(name) ?? quantityOf(0), amount));
    }
  }
}

function* consumedCounters({ consumesCounters = [] }: Device): Iterable<readonly [string, Quantity]> {
  for (const { counterSet, counters } of consumesCounters) {
    for (const [name, { value }] of Object.entries(counters)) yield [`${counterSet}/${name}`, parseQuantity(value)];
  }
}
