/**
 * Gives Services their cluster addresses and node ports. What was chosen and not written is given back.
 * Several API servers on one store take turns: whoever gives numbers also writes a key of their own (`TURN_KEY`), on the condition that
 * nobody did since it was read; and what others gave until then has been seen before anything is chosen.
 */
import {
  clusterIpNeeds,
  healthCheckNodePortNeed,
  nodePortNeeds,
  withClusterIps,
  withHealthCheckNodePort,
  withNodePorts,
  type ClusterIpNeed,
} from "../../../api/core/v1/service/allocation.ts";
import { resolveIpFamilies } from "../../../api/core/v1/service/ip-families.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import { invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import { invalidObject, StatusError } from "../../../api/machinery/status-error.ts";
import type { Random } from "../../../base/random.ts";
import { BOOKKEEPING_GROUP, resourcePrefix } from "../../../store/key.ts";
import type { Entry, Operation } from "../../../store/store.ts";
import { bytesValue } from "../../../store/value.ts";
import type { ServerContext } from "../../server-context.ts";
import { translated } from "../../storage/store-failure.ts";
import { newUid } from "../../write/identifiers.ts";
import type { Allocation, AllocatedWrite, ResourceExtension } from "../../extension.ts";
import type { NumberPool } from "./number-pool.ts";
import { ServicePools, type HeldNumber } from "./service-pools.ts";

export function serviceExtension(server: ServerContext): ResourceExtension {
  let pools: ServicePools | undefined;
  return {
    group: "",
    plural: "services",

    async allocate(write) {
      const storage = server.endpoints.stored("", "services")?.storage;
      if (storage === undefined) return { object: write.object, settle() {} };
      pools ??= new ServicePools(server.config, storage);
      if (!server.store.capabilities.shared) {
        await pools.ready();
        return new ServiceAllocation(pools, server.random).allocate(write);
      }
      const turn = await translated(() => server.store.get(TURN_KEY));
      await pools.ready();
      const others = await pools.heldByOthers();
      const allocation = new ServiceAllocation(pools, server.random, others);
      const allocated = allocation.allocate(write);
      return allocation.isEmpty || write.dryRun ? allocated : { ...allocated, alongside: [takeTurn(turn, server.random)] };
    },
  };
}

/** Whoever writes it has its turn at giving numbers. */
const TURN_KEY = `${resourcePrefix(BOOKKEEPING_GROUP, "servicenumbers")}turn`;

/** The value is another one each time, so that nobody takes another's turn for their own. */
function takeTurn(before: Entry | undefined, random: Random): Operation {
  const value = bytesValue(new TextEncoder().encode(newUid(random)));
  return {
    type: "put",
    key: TURN_KEY,
    value,
    precondition: before === undefined ? { is: "absent" } : { is: "at", revision: before.revision },
  };
}

/** The numbers of one write. */
class ServiceAllocation {
  readonly #pools: ServicePools;
  readonly #random: Random;
  readonly #held: HeldNumber[] = [];
  /** Held meanwhile for others, of whom the watch has not told yet. */
  readonly #others: HeldNumber[];

  constructor(pools: ServicePools, random: Random, others: readonly HeldNumber[] = []) {
    this.#pools = pools;
    this.#random = random;
    this.#others = [...others];
    for (const { pool, number } of others) pool.hold(number);
  }

  /** It needs no number that it did not have. */
  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  allocate({ object, previous }: AllocatedWrite): Allocation {
    const service = object as unknown as Service;
    const before = previous as unknown as Service | undefined;
    try {
      const { service: resolved, errors } = resolveIpFamilies(service, before, this.#pools.families);
      if (resolved === undefined) throw invalidService(service, errors);
      const addressed = this.#addresses(resolved, before);
      const ported = this.#nodePorts(addressed, before);
      // What was written holds its numbers by itself, and what was not, does not.
      return { object: this.#healthCheck(ported, before), settle: (written) => this.#settle(written) };
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  #addresses(service: Service, previous: Service | undefined): Service {
    const given = new Map<number, string>();
    for (const need of clusterIpNeeds(service, previous)) given.set(need.index, this.#address(service, need));
    return withClusterIps(service, given);
  }

  #address(service: Service, { family, requested }: ClusterIpNeed): string {
    if (requested !== undefined) return this.#requestedAddress(service, requested);
    const range = this.#pools.ranges.find((candidate) => candidate.family === family);
    const offset = range?.pool.pick(this.#random);
    if (range === undefined || offset === undefined) throw exhausted("failed to allocate a serviceIP: range is full");
    this.#hold(range.pool, offset);
    return this.#pools.addressAt(range, offset);
  }

  #requestedAddress(service: Service, requested: string): string {
    const place = this.#pools.placeOf(requested);
    const field = "spec.clusterIPs";
    const value = service.spec?.clusterIPs ?? [requested];
    if (place === undefined) {
      const why = `failed to allocate IP ${requested}: the provided network does not match the current range`;
      throw invalidService(service, [invalid(field, value, why)]);
    }
    if (place.range.pool.isHeld(place.offset)) {
      throw invalidService(service, [invalid(field, value, `failed to allocate IP ${requested}: provided IP is already allocated`)]);
    }
    this.#hold(place.range.pool, place.offset);
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
    const port = this.#pools.nodePorts.pick(this.#random);
    if (port === undefined) throw exhausted("failed to allocate a nodePort: range is full");
    this.#hold(this.#pools.nodePorts, port);
    return port;
  }

  #requestedPort(service: Service, field: string, requested: number): number {
    const { nodePorts } = this.#pools;
    if (!nodePorts.contains(requested)) {
      const { first, last } = nodePorts.range;
      const why = `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
      throw invalidService(service, [invalid(field, requested, why)]);
    }
    if (nodePorts.isHeld(requested)) throw invalidService(service, [invalid(field, requested, "provided port is already allocated")]);
    this.#hold(nodePorts, requested);
    return requested;
  }

  #hold(pool: NumberPool, number: number): void {
    pool.hold(number);
    this.#held.push({ pool, number });
  }

  #settle(written: boolean): void {
    if (written) this.#pools.written(this.#held.splice(0));
    this.#giveBack();
  }

  #giveBack(): void {
    for (const { pool, number } of [...this.#held.splice(0), ...this.#others.splice(0)]) pool.release(number);
  }
}

function invalidService({ metadata }: Service, errors: readonly FieldError[]): StatusError {
  return invalidObject({ group: "", kind: "Service" }, metadata.name, errors);
}

function exhausted(why: string): StatusError {
  return new StatusError("InternalError", `Internal error occurred: ${why}`, { details: { causes: [{ message: why }] } });
}
