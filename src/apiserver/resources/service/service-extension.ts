/**
 * Allocates cluster IPs and node ports of Services. Allocations that are not committed are released. Addresses exclude each other as
 * objects (service-addresses.ts). Node ports have no objects: API servers on one store allocate them in turns (turns.ts), after observing
 * earlier allocations of the others.
 */
import {
  clusterIpNeeds,
  healthCheckNodePortNeed,
  heldClusterIps,
  nodePortNeeds,
  withClusterIps,
  withHealthCheckNodePort,
  withNodePorts,
  type ClusterIpNeed,
} from "../../../api/core/v1/service/allocation.ts";
import { resolveIpFamilies } from "../../../api/core/v1/service/ip-families.ts";
import type { IpFamily } from "../../../api/core/v1/service/validate-cluster-ips.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import { invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import { conflict, invalidObject, StatusError } from "../../../api/machinery/status-error.ts";
import type { Random } from "../../../base/random.ts";
import type { Operation } from "../../../store/store.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import type { Allocation, AllocatedWrite, ResourceExtension } from "../../framework/extension.ts";
import { canonicalAddress } from "./address-range.ts";
import { isInRange, pickFree } from "./number-range.ts";
import { ServiceAddresses } from "./service-addresses.ts";
import { ServiceNumbers, type ServiceNumber } from "./service-numbers.ts";
import { Turns, type Turn } from "./turns.ts";
import { repairServiceAddresses } from "./repair.ts";

export function serviceExtension(server: ServerContext): ResourceExtension {
  const addresses = new ServiceAddresses(server);
  const turns = new Turns(server);
  let numbers: ServiceNumbers | undefined;
  return {
    group: "",
    plural: "services",
    repair: () => repairServiceAddresses(server),

    async allocate(write) {
      const storage = server.endpoints.stored("", "services")?.storage;
      if (storage === undefined) return { object: write.object, settle() {} };
      numbers ??= new ServiceNumbers(server.config, storage);
      const service = write.object as Service;
      const hasTurn = !write.dryRun && needsTurn(service, write.previous as Service | undefined, addresses.families);
      const turn = hasTurn ? await turns.begin() : undefined;
      try {
        await numbers.ready();
        await addresses.ready();
        const others = server.store.capabilities.shared ? await numbers.heldByOthers() : [];
        const allocation = new ServiceAllocation({ numbers, addresses, random: server.random }, others);
        return inTurn(await allocation.allocate(write), turn, write);
      } catch (error) {
        turn?.end();
        throw error;
      }
    },

    async release(object) {
      const service = object as Service;
      const [first, ...others] = await addresses.releaseOperations(heldClusterIps(service), service);
      return {
        alongside: first === undefined ? [] : [first],
        async afterwards() {
          for (const operation of others) await addresses.commit(operation);
        },
      };
    },
  };
}

function inTurn({ object, alongside = [], settle }: Allocation, turn: Turn | undefined, { dryRun }: AllocatedWrite): Allocation {
  return {
    object,
    alongside: dryRun ? [] : [...alongside, ...(turn?.operations ?? [])],
    async settle(written) {
      try {
        await settle(written);
      } finally {
        turn?.end();
      }
    },
  };
}

/** Ports have no objects that exclude each other, and of two addresses one is written before its Service. */
function needsTurn(service: Service, previous: Service | undefined, families: readonly IpFamily[]): boolean {
  if (nodePortNeeds(service, previous).length > 0 || healthCheckNodePortNeed(service, previous) !== undefined) return true;
  const { service: resolved } = resolveIpFamilies(service, previous, families);
  return resolved !== undefined && clusterIpNeeds(resolved, previous).length > 1;
}

interface Sources {
  readonly numbers: ServiceNumbers;
  readonly addresses: ServiceAddresses;
  readonly random: Random;
}

/** The allocations of one write. */
class ServiceAllocation {
  readonly #numbers: ServiceNumbers;
  readonly #addresses: ServiceAddresses;
  readonly #random: Random;
  readonly #held: ServiceNumber[] = [];
  /** Addresses whose objects are already written. */
  readonly #early: string[] = [];
  /** Held meanwhile for Services that the watch has not delivered yet. */
  readonly #others: ServiceNumber[];

  constructor({ numbers, addresses, random }: Sources, others: readonly ServiceNumber[]) {
    this.#numbers = numbers;
    this.#addresses = addresses;
    this.#random = random;
    this.#others = [...others];
    for (const number of others) numbers.held.hold(number);
  }

  async allocate(write: AllocatedWrite): Promise<Allocation> {
    const { object, previous } = write;
    const service = object as Service;
    const before = previous as Service | undefined;
    try {
      const { service: resolved, errors } = resolveIpFamilies(service, before, this.#addresses.families);
      if (resolved === undefined) throw invalidService(service, errors);
      const addressed = await this.#clusterIps(write, resolved, before);
      const complete = this.#healthCheck(this.#nodePorts(addressed, before), before);
      const [taken] = this.#held.filter((number) => typeof number === "string");
      const released = await this.#given(complete, before);
      const together = taken === undefined ? released.slice(0, 1) : [this.#addresses.take(taken, complete)];
      const later = taken === undefined ? released.slice(1) : released;
      // A committed Service holds its numbers by itself.
      return { object: complete, alongside: together, settle: (written) => this.#settle(written, complete, later) };
    } catch (error) {
      await this.#releaseAll(service);
      throw error;
    }
  }

  /** The IPAddresses to delete with this write. */
  async #given(service: Service, previous: Service | undefined): Promise<readonly Operation[]> {
    if (previous === undefined) return [];
    const held = new Set(heldClusterIps(service));
    return this.#addresses.releaseOperations(
      heldClusterIps(previous).filter((address) => !held.has(address)),
      previous,
    );
  }

  async #clusterIps({ dryRun }: AllocatedWrite, service: Service, previous: Service | undefined): Promise<Service> {
    const given = new Map<number, string>();
    for (const need of clusterIpNeeds(service, previous)) {
      const address = await this.#address(service, need);
      given.set(need.index, address);
      // Only the first can be committed with the Service.
      if (given.size > 1 && !dryRun) await this.#takeNow(address, service);
    }
    return withClusterIps(service, given);
  }

  async #takeNow(address: string, service: Service): Promise<void> {
    if (!(await this.#addresses.takeNow(address, service))) throw conflict({ group: "", plural: "services" }, service.metadata.name);
    this.#early.push(address);
  }

  async #address(service: Service, { family, requested }: ClusterIpNeed): Promise<string> {
    if (requested !== undefined) return this.#requestedAddress(service, requested);
    const address = this.#addresses.pick(family, this.#random, (candidate) => this.#numbers.held.isHeld(candidate));
    if (address === undefined)
      throw exhausted(`failed to allocate a serviceIP for Service ${JSON.stringify(service.metadata.name)}: range is full`);
    this.#hold(address);
    return address;
  }

  async #requestedAddress(service: Service, requested: string): Promise<string> {
    const refuse = (why: string): StatusError => {
      const value = service.spec?.clusterIPs ?? [requested];
      return invalidService(service, [invalid("spec.clusterIPs", value, `failed to allocate IP ${requested}: ${why}`)]);
    };
    if (!this.#addresses.contains(requested)) throw refuse("the provided network does not match the current range");
    const address = canonicalAddress(requested);
    const isHeld = (): boolean => this.#numbers.held.isHeld(address);
    if (isHeld() || (await this.#addresses.ownerOf(address)) !== undefined || isHeld()) throw refuse("provided IP is already allocated");
    this.#hold(address);
    return requested;
  }

  #nodePorts(service: Service, previous: Service | undefined): Service {
    const given = new Map<number, number>();
    for (const { indexes, requested } of nodePortNeeds(service, previous)) {
      const port =
        requested === undefined ? this.#anyPort() : this.#requestedPort(service, `spec.ports[${indexes[0] ?? 0}].nodePort`, requested);
      for (const index of indexes) given.set(index, port);
    }
    return withNodePorts(service, given);
  }

  #healthCheck(service: Service, previous: Service | undefined): Service {
    const need = healthCheckNodePortNeed(service, previous);
    if (need === undefined) return service;
    const { requested } = need;
    return withHealthCheckNodePort(
      service,
      requested === undefined ? this.#anyPort() : this.#requestedPort(service, "spec.healthCheckNodePort", requested),
    );
  }

  #anyPort(): number {
    const { nodePorts, held } = this.#numbers;
    const port = pickFree(nodePorts, this.#random, (candidate) => held.isHeld(candidate));
    if (port === undefined) throw exhausted("failed to allocate a nodePort: range is full");
    this.#hold(port);
    return port;
  }

  #requestedPort(service: Service, field: string, requested: number): number {
    const { nodePorts, held } = this.#numbers;
    if (!isInRange(nodePorts, requested)) {
      const why = `provided port is not in the valid range. The range of valid ports is ${nodePorts.first}-${nodePorts.last}`;
      throw invalidService(service, [invalid(field, requested, why)]);
    }
    if (held.isHeld(requested)) throw invalidService(service, [invalid(field, requested, "provided port is already allocated")]);
    this.#hold(requested);
    return requested;
  }

  #hold(number: ServiceNumber): void {
    this.#numbers.held.hold(number);
    this.#held.push(number);
  }

  async #settle(written: boolean, service: Service, later: readonly Operation[]): Promise<void> {
    if (!written) return this.#releaseAll(service);
    this.#numbers.written(this.#held.splice(0));
    this.#release(this.#others.splice(0));
    for (const operation of later) await this.#addresses.commit(operation);
  }

  async #releaseAll(service: Service): Promise<void> {
    this.#release([...this.#held.splice(0), ...this.#others.splice(0)]);
    for (const operation of await this.#addresses.releaseOperations(this.#early.splice(0), service))
      await this.#addresses.commit(operation);
  }

  #release(numbers: readonly ServiceNumber[]): void {
    for (const number of numbers) this.#numbers.held.release(number);
  }
}

function invalidService({ metadata }: Service, errors: readonly FieldError[]): StatusError {
  return invalidObject({ group: "", kind: "Service" }, metadata.name, errors);
}

function exhausted(why: string): StatusError {
  return new StatusError("InternalError", `Internal error occurred: ${why}`, { details: { causes: [{ message: why }] } });
}
