/**
 * At start: every address that a Service has gets its IPAddress if it has none (data of before, an object that somebody deleted), and an
 * IPAddress of a Service that has no such address goes (a crash between the two addresses of one Service).
 * Other API servers of the same store may give and take addresses meanwhile. So an IPAddress goes only in a turn (turns.ts), since it may
 * be the one that somebody writes before its Service; and it comes together with a write of the Service as it is, which may be going.
 */
import { heldClusterIps } from "../../../api/core/v1/service/allocation.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { IPAddress } from "../../../api/generated/networking.k8s.io/v1.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import { canonicalAddress } from "./address-range.ts";
import { isOf, ServiceAddresses } from "./service-addresses.ts";
import { Turns } from "./turns.ts";
import type { ResourceStorage, StoredObject } from "../../framework/storage/storage.ts";

/** Others may be first this often; what is left then is mended at the next start. */
const ATTEMPTS_MAX = 32;

export async function repairServiceAddresses(server: ServerContext): Promise<void> {
  const services = server.endpoints.stored("", "services")?.storage;
  if (services === undefined) return;
  const repair = new Repair(server, services);
  await services.cache.load();
  // First what is made of Services, then the Services: whoever has an address is seen after it, never before.
  for (const stored of await repair.addresses.made()) await repair.removeUnlessHeld(stored);
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

  /** False: somebody else had a turn meanwhile, or the IPAddress is gone, which the next look shows. */
  async #remove(stored: StoredObject): Promise<boolean> {
    const address = stored.object as IPAddress;
    const turn = await this.#turns.begin();
    try {
      if ((await this.addresses.ownerOf(address.metadata.name)) === undefined || (await this.#isHeld(address))) return true;
      const [operation] = this.addresses.giveBack(stored);
      if (operation === undefined) return true;
      const isDone = await this.addresses.commit(operation, ...turn.operations);
      const { name, namespace } = address.spec.parentRef;
      if (isDone) this.#server.log.info(`IPAddress ${address.metadata.name} goes: no Service ${namespace}/${name} has it`);
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
      const remedy = "delete one of the two Services, and make it again";
      this.#server.log.warn(`Service ${namespace}/${name} has the address ${address}, which is somebody else's: ${remedy}`);
    }
    return true;
  }
}

function holds(service: Service, address: IPAddress): boolean {
  return isOf(address, service) && heldClusterIps(service).some((held) => canonicalAddress(held) === address.metadata.name);
}
