/**
 * Repairs IPAddresses at start: creates missing ones of Services (old data, manual deletion), and deletes orphaned ones (a crash between
 * the two addresses of a Service). Other API servers on the store may allocate concurrently. So an IPAddress is deleted only in a turn
 * (turns.ts), since another server may have written it before its Service; and it is created together with a write of the unchanged
 * Service, which may be in deletion.
 */
import { heldClusterIps } from "../../../api/core/v1/service/allocation.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { IPAddress } from "../../../api/generated/networking.k8s.io/v1.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import { canonicalAddress } from "./address-range.ts";
import { isOf, ServiceAddresses } from "./service-addresses.ts";
import { Turns } from "./turns.ts";
import type { ResourceStorage, StoredObject } from "../../framework/storage/storage.ts";

/** Maximum conflicts; the rest is repaired at the next start. */
const ATTEMPTS_MAX = 32;

export async function repairServiceAddresses(server: ServerContext): Promise<void> {
  const services = server.endpoints.stored("", "services")?.storage;
  if (services === undefined) return;
  const repair = new Repair(server, services);
  await services.cache.load();
  // IPAddresses are read before Services: so the owner of an address is always seen.
  for (const stored of await repair.addresses.allocated()) await repair.removeUnlessHeld(stored);
  for (const [, { object }] of services.cache.snapshot().entries()) await repair.takeMissing(object as Service);
}

class Repair {
  readonly addresses: ServiceAddresses;
  readonly #server: ServerContext;
  readonly #services: ResourceStorage;
  readonly #turns: Turns;

  constructor(server: ServerContext, services: ResourceStorage) {
    this.#server = server;
    this.#services = services;
    this.addresses = new ServiceAddresses(server);
    this.#turns = new Turns(server);
  }

  async removeUnlessHeld(stored: StoredObject): Promise<void> {
    if (await this.#isHeld(stored.object as IPAddress)) return;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) if (await this.#remove(stored)) return;
  }

  /** False: another server had a turn meanwhile, or the IPAddress is already deleted, which the next pass shows. */
  async #remove(stored: StoredObject): Promise<boolean> {
    const address = stored.object as IPAddress;
    const turn = await this.#turns.begin();
    try {
      if ((await this.addresses.ownerOf(address.metadata.name)) === undefined || (await this.#isHeld(address))) return true;
      const [operation] = this.addresses.deletionOperations(stored);
      if (operation === undefined) return true;
      const isDone = await this.addresses.commit(operation, ...turn.operations);
      const { name, namespace } = address.spec.parentRef;
      if (isDone) this.#server.log.info(`Deleting orphaned IPAddress ${address.metadata.name}: not used by Service ${namespace}/${name}`);
      return isDone;
    } finally {
      turn.end();
    }
  }

  async #isHeld(address: IPAddress): Promise<boolean> {
    const { name, namespace = "" } = address.spec.parentRef;
    const service = (await this.#services.get({ namespace, name }))?.object as Service | undefined;
    return service !== undefined && holds(service, address);
  }

  async takeMissing(service: Service): Promise<void> {
    for (const address of heldClusterIps(service)) {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) if (await this.#take(address, service)) break;
    }
  }

  /** False: the Service changed meanwhile. */
  async #take(address: string, { metadata: { name, namespace = "" } }: Service): Promise<boolean> {
    const stored = await this.#services.get({ namespace, name });
    const service = stored?.object as Service | undefined;
    if (stored === undefined || service === undefined || !heldClusterIps(service).includes(address)) return true;
    const owner = await this.addresses.ownerOf(address);
    if (owner === undefined) {
      const asItIs = this.#services.putOperation({ namespace, name }, stored, { is: "at", revision: stored.revision });
      return this.addresses.commit(this.addresses.take(address, service), asItIs);
    }
    if (!isOf(owner, service)) {
      const remedy = "delete and recreate one of the two Services";
      this.#server.log.warn(`Service ${namespace}/${name} has the address ${address}, which is allocated to another Service: ${remedy}`);
    }
    return true;
  }
}

function holds(service: Service, address: IPAddress): boolean {
  return isOf(address, service) && heldClusterIps(service).some((held) => canonicalAddress(held) === address.metadata.name);
}
