/**
 * Service addresses are allocated as IPAddress objects, committed and deleted together with the Service; so a crash leaks nothing and
 * allocates nothing twice, and several API servers on one store exclude each other by object name. A commit changes one object of a
 * resource, so the second address of a dual-stack Service is written before and deleted after it; leftovers of a crash are repaired at the
 * next start (repair.ts). Not here: which addresses a Service needs (api/core/v1/service/allocation.ts).
 */
import type { IpFamily } from "../../../api/core/v1/service/validate-cluster-ips.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { IPAddress, ServiceCIDR } from "../../../api/generated/networking.k8s.io/v1.ts";
import { parseIp } from "../../../api/machinery/ip/ip-address.ts";
import type { Random } from "../../../base/random.ts";
import type { Operation } from "../../../store/store.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import { translated } from "../../framework/storage/store-failure.ts";
import { planDeletion } from "../../shared/deletion.ts";
import { addressAt, canonicalAddress, configuredRanges, containsAddress, readyRanges, type AddressRange } from "./address-range.ts";
import { pickFree } from "./number-range.ts";
import type { StoredObject } from "../../framework/storage/storage.ts";

const GROUP = "networking.k8s.io";
const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
const MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by";
const MANAGER = "ipallocator.k8s.io";

export class ServiceAddresses {
  readonly #server: ServerContext;
  readonly #configured: readonly AddressRange[];

  constructor(server: ServerContext) {
    this.#server = server;
    this.#configured = configuredRanges(server.config.serviceClusterIpRange);
  }

  /** In order of preference: a Service without a family gets the first. */
  get families(): readonly IpFamily[] {
    return this.#configured.map(({ family }) => family);
  }

  /** Resolves when ranges and allocated addresses are synced. */
  async ready(): Promise<void> {
    for (const { storage } of [this.#addresses(), this.#cidrs()]) if (!storage.cache.isLoaded) await storage.cache.load();
  }

  contains(address: string): boolean {
    return this.#ranges().some((range) => containsAddress(range, address));
  }

  /** Returns a free address of a family; undefined if none exists. `isHeld` covers allocations in progress. */
  pick(family: IpFamily, random: Random, isHeld: (address: string) => boolean): string | undefined {
    const { storage } = this.#addresses();
    const isTaken = (address: string): boolean => isHeld(address) || storage.cache.get(storage.keyOf(nameOf(address))) !== undefined;
    for (const range of this.#ranges()) {
      if (range.family !== family) continue;
      const offset = pickFree(range.offsets, random, (candidate) => isTaken(addressAt(range, candidate)));
      if (offset !== undefined) return addressAt(range, offset);
    }
    return undefined;
  }

  /** The IPAddress of an address; undefined if it is free. */
  async ownerOf(address: string): Promise<IPAddress | undefined> {
    return (await this.#addresses().storage.get(nameOf(address)))?.object as IPAddress | undefined;
  }

  /** Operation to commit with the Service that gets the address. */
  take(address: string, service: Service): Operation {
    const endpoint = this.#addresses();
    const { name, namespace = "" } = service.metadata;
    const object: IPAddress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "IPAddress",
      metadata: {
        name: canonicalAddress(address),
        labels: { [FAMILY_LABEL]: parseIp(address)?.family === 6 ? "IPv6" : "IPv4", [MANAGER_LABEL]: MANAGER },
      },
      spec: { parentRef: { resource: "services", namespace, name } },
    };
    const stored = this.#server.writes.ownObject(endpoint, object);
    return endpoint.storage.putOperation(nameOf(address), stored, { is: "absent" });
  }

  /** Allocates it immediately; false on a conflict. */
  async takeNow(address: string, service: Service): Promise<boolean> {
    return this.commit(this.take(address, service));
  }

  /** Operations that release the addresses of the Service. IPAddresses of other owners stay. */
  async releaseOperations(addresses: readonly string[], service: Service): Promise<readonly Operation[]> {
    const operations: Operation[] = [];
    for (const address of addresses) {
      const stored = await this.#addresses().storage.get(nameOf(address));
      if (stored !== undefined && isOf(stored.object as IPAddress, service)) operations.push(...this.deletionOperations(stored));
    }
    return operations;
  }

  /** False: a precondition of an operation failed. */
  async commit(...operations: readonly Operation[]): Promise<boolean> {
    return (await translated(() => this.#server.store.commit(operations))).committed;
  }

  /** All IPAddresses of this allocator, whatever their owner. */
  async allocated(): Promise<readonly StoredObject[]> {
    await this.ready();
    const objects = [...this.#addresses().storage.cache.snapshot().entries()].map(([, stored]) => stored);
    return objects.filter(({ object }) => object.metadata.labels?.[MANAGER_LABEL] === MANAGER);
  }

  /** One with a finalizer is marked as terminating, as in every delete. */
  deletionOperations(stored: StoredObject): readonly Operation[] {
    const { resource, storage } = this.#addresses();
    const name = nameOf(stored.object.metadata.name);
    const plan = planDeletion(resource, stored.object, {}, this.#server.clock.now());
    if (plan.outcome === "wait") return [];
    if (plan.outcome === "remove") return [storage.deleteOperation(name, stored)];
    const terminating = storage.newObject(plan.object, stored.managed());
    return [storage.putOperation(name, terminating, { is: "at", revision: stored.revision })];
  }

  #ranges(): readonly AddressRange[] {
    const objects = [...this.#cidrs().storage.cache.snapshot().entries()].map(([, { object }]) => object as ServiceCIDR);
    return readyRanges(objects, this.#configured);
  }

  #addresses(): Endpoint {
    return this.#endpoint("ipaddresses");
  }

  #cidrs(): Endpoint {
    return this.#endpoint("servicecidrs");
  }

  #endpoint(plural: string): Endpoint {
    const endpoint = this.#server.endpoints.stored(GROUP, plural);
    if (endpoint === undefined) throw new Error(`Cannot allocate Service addresses: ${plural}.${GROUP} is not served`);
    return endpoint;
  }
}

/** True if the IPAddress references this Service. */
export function isOf({ spec }: IPAddress, { metadata }: Service): boolean {
  const { group = "", resource, namespace = "", name } = spec.parentRef;
  return group === "" && resource === "services" && namespace === metadata.namespace && name === metadata.name;
}

function nameOf(address: string): { readonly namespace: string; readonly name: string } {
  return { namespace: "", name: canonicalAddress(address) };
}
