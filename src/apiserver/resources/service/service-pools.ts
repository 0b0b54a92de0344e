/**
 * The cluster addresses and node ports of all Services of this cluster. What is held follows from the Services themselves: it is read
 * from them when the first is written, and kept up to date by watching them; so there is nothing to store and nothing to repair.
 * A number is also held from the moment it is chosen until its write is decided.
 */
import { addToIp, cidrSize, formatIp, networkOf, offsetIn, parseCidr, parseIp, type Cidr } from "../../../api/machinery/ip-address.ts";
import { heldClusterIps, heldHealthCheckNodePort, heldNodePorts } from "../../../api/core/v1/service/allocation.ts";
import type { IpFamily } from "../../../api/core/v1/service/validate-cluster-ips.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { ApiServerConfig } from "../../api-server-config.ts";
import type { ResourceStorage } from "../../storage/resource-storage.ts";
import { translated } from "../../storage/store-failure.ts";
import type { ObjectChange } from "../../storage/watch-index.ts";
import { NumberPool } from "./number-pool.ts";

export interface AddressRange {
  readonly family: IpFamily;
  readonly cidr: Cidr;
  readonly text: string;
  /** Offsets in the range; 0 is the network itself. */
  readonly pool: NumberPool;
}

export interface HeldNumber {
  readonly pool: NumberPool;
  readonly number: number;
}

export class ServicePools {
  readonly ranges: readonly AddressRange[];
  readonly nodePorts: NumberPool;
  readonly #storage: ResourceStorage;
  /** Held for writes that the watch has not told of yet. */
  readonly #unseen = new Set<HeldNumber>();
  #following: Promise<void> | undefined;

  constructor(config: ApiServerConfig, storage: ResourceStorage) {
    this.#storage = storage;
    this.ranges = config.serviceClusterIpRange.split(",").map(rangeOf);
    const { first, last } = config.serviceNodePortRange;
    this.nodePorts = new NumberPool({ first, last, reserved: reservedPorts(last - first + 1) });
  }

  get families(): readonly IpFamily[] {
    return this.ranges.map(({ family }) => family);
  }

  /** Resolves when what the existing Services hold is known. */
  ready(): Promise<void> {
    this.#following ??= this.#follow().catch((error: unknown) => {
      this.#following = undefined; // The next write tries again.
      throw error;
    });
    return this.#following;
  }

  /**
   * These were written. Where others write to the store, too, the watch tells of a write after its answer; until then the numbers must
   * not be free, so they are held for it.
   */
  written(numbers: readonly HeldNumber[]): void {
    for (const held of numbers) {
      const isSeen = held.pool.holders(held.number) > 1;
      if (isSeen || !this.#storage.store.capabilities.shared) held.pool.release(held.number);
      else this.#unseen.add(held);
    }
  }

  /**
   * What Services hold that the watch has not told of yet, though it was written before this call. Where the store can say how far the
   * watch has come, it is waited for and nothing is left; where it cannot, the Services are read.
   */
  async heldByOthers(): Promise<readonly HeldNumber[]> {
    const { cache, store, prefix } = this.#storage;
    if ((await cache.freshRevision()) !== undefined) return [];
    const { entries } = await translated(() => store.list(prefix, { countRemaining: false }));
    const held: HeldNumber[] = [];
    for (const entry of entries) {
      if (cache.get(entry.key)?.revision === entry.revision) continue;
      this.#each(this.#storage.fromEntry(entry).object as unknown as Service, (pool, number) => held.push({ pool, number }));
    }
    return held;
  }

  /** The offset of an address in the range of its family; undefined if it is in none. */
  placeOf(address: string): { readonly range: AddressRange; readonly offset: number } | undefined {
    const ip = parseIp(address);
    if (ip === undefined) return undefined;
    for (const range of this.ranges) {
      const offset = offsetIn(range.cidr, ip);
      if (offset !== undefined && range.pool.contains(Number(offset))) return { range, offset: Number(offset) };
    }
    return undefined;
  }

  addressAt({ cidr }: AddressRange, offset: number): string {
    const address = addToIp(cidr.address, offset);
    return address === undefined ? "" : formatIp(address);
  }

  async #follow(): Promise<void> {
    const { cache } = this.#storage;
    const unseen = [...this.#unseen];
    await cache.load();
    for (const [, { object }] of cache.snapshot().entries()) this.#hold(object as unknown as Service);
    // What was written before is in there, or gone again.
    for (const held of unseen) this.#seen(held);
    const listener = {
      scope: { namespace: "" },
      changed: ({ type, object, previous }: ObjectChange) => {
        if (type === "put") this.#holdWritten(object.object as unknown as Service);
        if (previous !== undefined) this.#release(previous.object as unknown as Service);
      },
      // The cache is read anew; so are we, when the next Service is written. What it has now is what we hold for it.
      ended: () => {
        cache.leave(listener);
        for (const [, { object }] of cache.snapshot().entries()) this.#release(object as unknown as Service);
        this.#following = undefined;
      },
    };
    cache.join(listener);
  }

  #hold(service: Service): void {
    this.#each(service, (pool, number) => pool.hold(number));
  }

  #holdWritten(service: Service): void {
    this.#hold(service);
    if (this.#unseen.size === 0) return;
    this.#each(service, (pool, number) => {
      for (const held of this.#unseen) if (held.pool === pool && held.number === number) this.#seen(held);
    });
  }

  #seen(held: HeldNumber): void {
    if (this.#unseen.delete(held)) held.pool.release(held.number);
  }

  #release(service: Service): void {
    this.#each(service, (pool, number) => pool.release(number));
  }

  #each(service: Service, visit: (pool: NumberPool, number: number) => void): void {
    for (const address of heldClusterIps(service)) {
      const place = this.placeOf(address);
      if (place !== undefined) visit(place.range.pool, place.offset);
    }
    const healthCheck = heldHealthCheckNodePort(service);
    for (const port of [...heldNodePorts(service), ...(healthCheck === undefined ? [] : [healthCheck])]) visit(this.nodePorts, port);
  }
}

/** Larger ranges are used only so far: more Services than this do not fit into a cluster. */
const OFFSETS_MAX = 2 ** 24;

function rangeOf(text: string): AddressRange {
  const parsed = parseCidr(text);
  if (parsed === undefined)
    throw new Error(`Cannot use ${JSON.stringify(text)} for the addresses of Services: it must be a range such as 10.96.0.0/12`);
  const cidr = networkOf(parsed);
  const size = Number(cidrSize(cidr) > BigInt(OFFSETS_MAX) ? BigInt(OFFSETS_MAX) : cidrSize(cidr));
  const family = cidr.address.family === 4 ? "IPv4" : "IPv6";
  // Neither the network, nor (IPv4) its broadcast address. The first is the cluster's own Service.
  const last = family === "IPv4" ? size - 2 : size - 1;
  return { family, cidr, text: text.trim(), pool: new NumberPool({ first: 1, last, reserved: reservedAddresses(size) }) };
}

/** As upstream: a sixteenth, but at least 16 and at most 256. */
function reservedAddresses(size: number): number {
  return size <= 16 ? 0 : Math.min(256, Math.max(16, Math.floor(size / 16)));
}

/** As upstream: a thirty-second, but at least 16 and at most 128. */
function reservedPorts(size: number): number {
  return size <= 16 ? 0 : Math.min(128, Math.max(16, Math.floor(size / 32)));
}
