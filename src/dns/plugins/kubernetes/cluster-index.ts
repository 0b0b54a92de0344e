/**
 * Services, EndpointSlices and namespaces of the cluster by the keys that names are looked up with. Kept by informers: a lookup is a map
 * access, never a scan. Every change is reported by its subject, so that answers that depend on it are computed again.
 */
import { namespaces } from "../../../api/core/v1/namespace.ts";
import { services } from "../../../api/core/v1/service.ts";
import { endpointSlices } from "../../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../../api/generated/discovery.k8s.io/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Index, Informers } from "../../../client/informer/informer.ts";
import { canonicalAddress } from "../../addresses.ts";
import { endpointName, serviceRecords, type ServiceRecords } from "./service-records.ts";

const SERVICE_NAME = "kubernetes.io/service-name";

const slicesByService: Index<EndpointSlice> = {
  kind: endpointSlices,
  values: (slice) => serviceKeysOf(slice),
};

function serviceKeysOf({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.[SERVICE_NAME];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

/** What an answer depends on. */
export const subjectOf = {
  service: (key: string) => `service:${key}`,
  namespace: (name: string) => `namespace:${name}`,
  address: (address: string) => `address:${address}`,
  /** Never changes. */
  nothing: "",
} as const;

/** The name that an address has: of a Service, or of one of its endpoints. */
export interface AddressName {
  readonly endpoint?: string;
  readonly service: string;
  readonly namespace: string;
}

export interface ClusterIndex {
  readonly isSynced: boolean;
  /** By "<namespace>/<name>". */
  service(key: string): ServiceRecords | undefined;
  hasNamespace(name: string): boolean;
  /** By canonical address. A cluster IP has one name, an endpoint one per Service. */
  namesOf(address: string): readonly AddressName[];
}

export function createClusterIndex(informers: Informers, changed: (subject: string) => void): ClusterIndex {
  const byName = informers.of(services);
  const slices = informers.of(endpointSlices);
  const known = informers.of(namespaces);
  const computed = new Map<string, ServiceRecords>();
  const clusterIps = new AddressOwners((address) => changed(subjectOf.address(address)));
  const endpoints = new AddressOwners((address) => changed(subjectOf.address(address)));

  const serviceChanged = (key: string) => {
    computed.delete(key);
    changed(subjectOf.service(key));
  };
  const followService = (service: Service | undefined, previous: Service | undefined) => {
    const key = keyOf((service ?? previous) as Service);
    clusterIps.replace(key, clusterIpsOf(previous), clusterIpsOf(service));
    serviceChanged(key);
  };
  const followSlice = (slice: EndpointSlice | undefined, previous: EndpointSlice | undefined) => {
    endpoints.replace(keyOf((slice ?? previous) as EndpointSlice), addressesOf(previous), addressesOf(slice));
    const keys = [slice, previous].flatMap((each) => (each === undefined ? [] : serviceKeysOf(each)));
    for (const key of new Set(keys)) serviceChanged(key);
    // The hostname or readiness of an address may have changed.
    for (const address of addressesOf(slice)) changed(subjectOf.address(address));
  };
  const namespaceChanged = (namespace: KubeObject) => changed(subjectOf.namespace(namespace.metadata.name));
  byName.listen({
    added: (service) => followService(service, undefined),
    updated: followService,
    deleted: (service) => followService(undefined, service),
  });
  slices.listen({
    added: (slice) => followSlice(slice, undefined),
    updated: followSlice,
    deleted: (slice) => followSlice(undefined, slice),
  });
  known.listen({ added: namespaceChanged, updated: () => {}, deleted: namespaceChanged });

  return {
    get isSynced() {
      return byName.isSynced && slices.isSynced && known.isSynced;
    },
    service(key) {
      const ready = computed.get(key);
      if (ready !== undefined) return ready;
      const slash = key.indexOf("/");
      const service = byName.get({ namespace: key.slice(0, slash), name: key.slice(slash + 1) });
      if (service === undefined) return undefined;
      const records = serviceRecords(service, slices.indexed(slicesByService, key));
      computed.set(key, records);
      return records;
    },
    hasNamespace: (name) => known.get({ name }) !== undefined,
    namesOf(address) {
      const [owner] = clusterIps.of(address);
      if (owner !== undefined) return [nameOfKey(owner)];
      return [...endpoints.of(address)].flatMap((key) => {
        const { name, namespace } = split(key);
        const slice = slices.get({ namespace, name });
        return slice === undefined ? [] : namesIn(slice, address);
      });
    },
  };
}

/** Keys of the objects that have an address. */
class AddressOwners {
  readonly #owners = new Map<string, Set<string>>();
  readonly #changed: (address: string) => void;

  constructor(changed: (address: string) => void) {
    this.#changed = changed;
  }

  of(address: string): ReadonlySet<string> {
    return this.#owners.get(address) ?? NO_OWNERS;
  }

  replace(key: string, previous: ReadonlySet<string>, addresses: ReadonlySet<string>): void {
    for (const address of previous) if (!addresses.has(address)) this.#remove(address, key);
    for (const address of addresses) if (!previous.has(address)) this.#add(address, key);
  }

  #add(address: string, key: string): void {
    const owners = this.#owners.get(address);
    if (owners === undefined) this.#owners.set(address, new Set([key]));
    else owners.add(key);
    this.#changed(address);
  }

  #remove(address: string, key: string): void {
    const owners = this.#owners.get(address);
    owners?.delete(key);
    if (owners?.size === 0) this.#owners.delete(address);
    this.#changed(address);
  }
}

const NO_OWNERS: ReadonlySet<string> = new Set();

function clusterIpsOf(service: Service | undefined): ReadonlySet<string> {
  const { clusterIP, clusterIPs = clusterIP === undefined ? [] : [clusterIP] } = service?.spec ?? {};
  return new Set(clusterIPs.flatMap((address) => canonicalAddress(address) ?? []));
}

function addressesOf(slice: EndpointSlice | undefined): ReadonlySet<string> {
  const all = slice?.endpoints?.flatMap(({ addresses }) => addresses) ?? [];
  return new Set(all.flatMap((address) => canonicalAddress(address) ?? []));
}

function namesIn(slice: EndpointSlice, address: string): readonly AddressName[] {
  return serviceKeysOf(slice).flatMap((key) =>
    (slice.endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses, hostname }) =>
        addresses
          .filter((text) => canonicalAddress(text) === address)
          .map((text) => ({ ...nameOfKey(key), endpoint: endpointName(hostname, text) })),
      ),
  );
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function split(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function nameOfKey(key: string): AddressName {
  const { namespace, name } = split(key);
  return { service: name, namespace };
}
