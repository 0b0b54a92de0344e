/**
 * The names, addresses and ports of one Service, computed from it and its EndpointSlices. Pure; computed when a name of the Service is
 * looked up after a change.
 */
import type { EndpointSlice } from "../../../api/generated/discovery.k8s.io/v1.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import { addressBytes } from "../../addresses.ts";
import { nameOfText } from "../../wire/names.ts";

/** The target of a Service port. */
export interface PortTarget {
  /** In lower case; "" for an unnamed port. */
  readonly name: string;
  /** "tcp". */
  readonly protocol: string;
  readonly port: number;
  /** Name of the endpoint; absent: the Service itself. */
  readonly endpoint?: string;
}

export interface AddressedService {
  readonly is: "addresses";
  /** Of the Service's own name. */
  readonly addresses: readonly Uint8Array[];
  /** Addresses by the name of the endpoint. */
  readonly endpoints: ReadonlyMap<string, readonly Uint8Array[]>;
  readonly ports: readonly PortTarget[];
}

export type ServiceRecords =
  | AddressedService
  | { readonly is: "external"; readonly name: string }
  /** Its name does not exist: a headless Service without ready endpoints, a Service without an address. */
  | { readonly is: "none" };

const NONE: ServiceRecords = { is: "none" };

export function serviceRecords(service: Service, slices: readonly EndpointSlice[]): ServiceRecords {
  const { type, externalName = "", clusterIP = "", clusterIPs } = service.spec ?? {};
  if (type === "ExternalName") {
    // An address is not a name; CoreDNS has no record for it either.
    const name = addressBytes(externalName) === undefined ? nameOfText(externalName) : undefined;
    return name === undefined || name === "" ? NONE : { is: "external", name };
  }
  const endpoints = endpointsOf(service, slices);
  if (clusterIP === "None") return headless(endpoints);
  const addresses = (clusterIPs ?? [clusterIP]).flatMap((address) => addressBytes(address) ?? []);
  return addresses.length === 0 ? NONE : { is: "addresses", addresses, endpoints: endpoints.addresses, ports: portsOf(service) };
}

function portsOf({ spec }: Service): readonly PortTarget[] {
  return (spec?.ports ?? []).map(({ name = "", protocol = "TCP", port }) => ({ name, protocol: protocol.toLowerCase(), port }));
}

function headless({ addresses, ports }: Endpoints): ServiceRecords {
  if (addresses.size === 0) return NONE;
  return { is: "addresses", addresses: distinct([...addresses.values()].flat()), endpoints: addresses, ports };
}

interface Endpoints {
  readonly addresses: ReadonlyMap<string, readonly Uint8Array[]>;
  readonly ports: readonly PortTarget[];
}

function endpointsOf({ spec }: Service, slices: readonly EndpointSlice[]): Endpoints {
  const addresses = new Map<string, Uint8Array[]>();
  const ports = new Map<string, PortTarget>();
  for (const slice of slices) {
    // Names are addresses of another kind, which DNS cannot serve.
    if (slice.addressType === "FQDN") continue;
    for (const endpoint of slice.endpoints ?? []) {
      if (endpoint.conditions?.ready === false && spec?.publishNotReadyAddresses !== true) continue;
      for (const text of endpoint.addresses) {
        const bytes = addressBytes(text);
        if (bytes === undefined) continue;
        const name = endpointName(endpoint.hostname, text);
        addresses.set(name, [...(addresses.get(name) ?? []), bytes]);
        for (const { name: portName = "", protocol = "TCP", port } of slice.ports ?? []) {
          if (port === undefined) continue;
          const target = { name: portName, protocol: protocol.toLowerCase(), port, endpoint: name };
          ports.set(JSON.stringify(target), target);
        }
      }
    }
  }
  for (const [name, of] of addresses) addresses.set(name, distinct(of));
  return { addresses, ports: [...ports.values()] };
}

/** Its hostname, or its address with dashes, as CoreDNS names it. */
export function endpointName(hostname: string | undefined, address: string): string {
  return hostname === undefined || hostname === "" ? address.replace(/[.:]/g, "-") : hostname.toLowerCase();
}

function distinct(addresses: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(addresses.map((bytes) => [bytes.join("."), bytes])).values()];
}
