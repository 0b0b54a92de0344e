/**
 * The addresses and node ports held by Services. Derived from the Services: listed at the first write, and kept up to date by a watch; so
 * there is nothing to store and nothing to repair. A number is also held from its allocation until its write is decided.
 */
import { heldClusterIps, heldHealthCheckNodePort, heldNodePorts } from "../../../api/core/v1/service/allocation.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { ApiServerConfig } from "../../framework/api-server-config.ts";
import { translated } from "../../framework/storage/store-failure.ts";
import { canonicalAddress } from "./address-range.ts";
import { Holders } from "./holders.ts";
import type { NumberRange } from "./number-range.ts";
import type { ObjectChange, ResourceStorage } from "../../framework/storage/storage.ts";

/** An address, or a node port. */
export type ServiceNumber = string | number;

export class ServiceNumbers {
  readonly nodePorts: NumberRange;
  readonly held = new Holders<ServiceNumber>();
  readonly #storage: ResourceStorage;
  /** Held for writes that the watch has not delivered yet. */
  readonly #unseen = new Set<{ readonly number: ServiceNumber }>();
  #following: Promise<void> | undefined;

  constructor(config: ApiServerConfig, storage: ResourceStorage) {
    this.#storage = storage;
    const { first, last } = config.serviceNodePortRange;
    this.nodePorts = { first, last, reserved: reservedPorts(last - first + 1) };
  }

  /** Resolves when the numbers of existing Services are known. */
  ready(): Promise<void> {
    this.#following ??= this.#follow().catch((error: unknown) => {
      this.#following = undefined; // The next write retries.
      throw error;
    });
    return this.#following;
  }

  /** These were committed. On a shared store the watch delivers a write after its response; until then the numbers are held for it. */
  written(numbers: readonly ServiceNumber[]): void {
    for (const number of numbers) {
      const isSeen = this.held.count(number) > 1;
      if (isSeen || !this.#storage.store.capabilities.shared) this.held.release(number);
      else this.#unseen.add({ number });
    }
  }

  /**
   * Numbers of Services that the watch has not delivered yet, though they were written before this call. If the store reports watch
   * progress, it is awaited and nothing is left; otherwise the Services are read.
   */
  async heldByOthers(): Promise<readonly ServiceNumber[]> {
    const { cache, store, prefix } = this.#storage;
    if ((await cache.freshRevision()) !== undefined) return [];
    const { entries } = await translated(() => store.list(prefix, { countRemaining: false }));
    const isNew = entries.filter(({ key, revision }) => cache.get(key)?.revision !== revision);
    return isNew.flatMap((entry) => numbersOf(this.#storage.fromEntry(entry).object as Service));
  }

  async #follow(): Promise<void> {
    const { cache } = this.#storage;
    const unseen = [...this.#unseen];
    await cache.load();
    for (const [, { object }] of cache.snapshot().entries()) this.#hold(object as Service);
    // Earlier writes are included, or already deleted.
    for (const held of unseen) this.#seen(held);
    const listener = {
      scope: { namespace: "" },
      changed: ({ type, object, previous }: ObjectChange) => {
        if (type === "put") this.#holdWritten(object.object as Service);
        if (previous !== undefined) this.#release(previous.object as Service);
      },
      // The cache is relisted; so are we, at the next Service write. What it has now is what we hold for it.
      ended: () => {
        cache.leave(listener);
        for (const [, { object }] of cache.snapshot().entries()) this.#release(object as Service);
        this.#following = undefined;
      },
    };
    cache.join(listener);
  }

  #hold(service: Service): void {
    for (const number of numbersOf(service)) this.held.hold(number);
  }

  #holdWritten(service: Service): void {
    this.#hold(service);
    if (this.#unseen.size === 0) return;
    for (const number of numbersOf(service)) for (const held of this.#unseen) if (held.number === number) this.#seen(held);
  }

  #seen(held: { readonly number: ServiceNumber }): void {
    if (this.#unseen.delete(held)) this.held.release(held.number);
  }

  #release(service: Service): void {
    for (const number of numbersOf(service)) this.held.release(number);
  }
}

function numbersOf(service: Service): readonly ServiceNumber[] {
  const healthCheck = heldHealthCheckNodePort(service);
  const ports = [...heldNodePorts(service), ...(healthCheck === undefined ? [] : [healthCheck])];
  return [...heldClusterIps(service).map(canonicalAddress), ...ports];
}

/** As upstream: a thirty-second, but at least 16 and at most 128. */
function reservedPorts(size: number): number {
  return size <= 16 ? 0 : Math.min(128, Math.max(16, Math.floor(size / 32)));
}
