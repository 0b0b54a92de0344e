/**
 * Which devices exist and which are taken: by claims as observed, and by allocations that were decided and are not written yet. Shared by
 * all profiles of a scheduler, so that two of them never decide about the same device.
 */
import type { AllocationResult, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import type { DeviceView } from "../../framework/device-view.ts";
import type { PluginContext } from "../../framework/plugin.ts";
import { AllocatedDevices } from "./allocator/allocated-devices.ts";
import { DeviceInventory } from "./allocator/inventory.ts";
import { DeviceSelectors } from "./allocator/selectors.ts";

export class DeviceLedger {
  readonly allocated = new AllocatedDevices();
  readonly inventory = new DeviceInventory();
  readonly selectors: DeviceSelectors;
  /** Decided and not observed yet, by the uid of the claim. */
  readonly #pending = new Map<string, AllocationResult>();
  /** Observed allocations, by the uid of the claim. */
  readonly #observed = new Map<string, AllocationResult>();
  /** Called with the uid of a claim that changed or was deleted. */
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(view: DeviceView, runInBackground: (work: Iterator<void>) => void) {
    this.selectors = new DeviceSelectors(runInBackground);
    view.onSlices({
      changed: (slice, previous) => {
        if (previous !== undefined) this.inventory.delete(previous);
        this.inventory.add(slice);
      },
      deleted: (slice) => this.inventory.delete(slice),
    });
    view.onClaims({
      changed: (claim, previous) => {
        if (previous !== undefined && uidOf(previous) !== uidOf(claim)) this.#observe(uidOf(previous), undefined);
        this.#observe(uidOf(claim), claim.status?.allocation);
      },
      deleted: (claim) => this.#observe(uidOf(claim), undefined),
    });
  }

  isPending(claimUid: string): boolean {
    return this.#pending.has(claimUid);
  }

  /** The devices are taken from now on, until `release` is called or the claim is observed without them. */
  reserve(claimUid: string, allocation: AllocationResult): void {
    this.#pending.set(claimUid, allocation);
    this.#update(claimUid);
  }

  /** The allocation was observed, or is not written after all. */
  release(claimUid: string): void {
    this.#pending.delete(claimUid);
    this.#update(claimUid);
  }

  /** Resolves when the claim changes. */
  changed(claimUid: string): Promise<void> & Disposable {
    const watchers = this.#watchers.get(claimUid) ?? new Set();
    this.#watchers.set(claimUid, watchers);
    let wake = (): void => {};
    const change = new Promise<void>((resolve) => {
      wake = resolve;
    });
    watchers.add(wake);
    const dispose = (): void => {
      watchers.delete(wake);
      if (watchers.size === 0 && this.#watchers.get(claimUid) === watchers) this.#watchers.delete(claimUid);
    };
    return Object.assign(change, { [Symbol.dispose]: dispose });
  }

  #observe(claimUid: string, allocation: AllocationResult | undefined): void {
    if (allocation === undefined) this.#observed.delete(claimUid);
    else this.#observed.set(claimUid, allocation);
    this.#update(claimUid);
    for (const wake of this.#watchers.get(claimUid) ?? []) wake();
  }

  #update(claimUid: string): void {
    this.allocated.set(claimUid, this.#observed.get(claimUid) ?? this.#pending.get(claimUid));
  }
}

function uidOf({ metadata }: ResourceClaim): string {
  return metadata.uid ?? "";
}

/** One per scheduler, which has one view. */
const ledgers = new WeakMap<DeviceView, DeviceLedger>();

export function ledgerOf({ cluster, runInBackground }: Pick<PluginContext, "cluster" | "runInBackground">): DeviceLedger {
  const view = cluster.devices;
  let ledger = ledgers.get(view);
  if (ledger === undefined) {
    ledger = new DeviceLedger(view, runInBackground);
    ledgers.set(view, ledger);
  }
  return ledger;
}
