/** The endpoints of a Service from its EndpointSlices: by port and protocol, without duplicates, sorted by address. Pure. */
import type { Endpoint as SliceEndpoint, EndpointPort, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { formatIp, parseSloppyIp } from "../../api/machinery/ip/ip-address.ts";
import { compareKeys } from "../../base/sorted-map.ts";
import type { Endpoint } from "./usable-endpoints.ts";

/** Endpoints by "name/protocol" of the port. */
export type EndpointsByPort = ReadonlyMap<string, readonly Endpoint[]>;

/** "http/TCP" */
export function portKey(name: string, protocol: string): string {
  return `${name}/${protocol}`;
}

/** "10.244.0.5:80", "[fd00::5]:80" */
export function hostPort(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/** `slices` of other families are ignored. */
export function endpointsByPort(slices: readonly EndpointSlice[], family: 4 | 6): EndpointsByPort {
  const byPort = new Map<string, Map<string, Endpoint>>();
  for (const slice of slices) {
    if (slice.addressType !== (family === 4 ? "IPv4" : "IPv6")) continue;
    for (const port of slice.ports ?? []) addPort(byPort, port, slice.endpoints ?? []);
  }
  return new Map([...byPort].map(([key, endpoints]) => [key, sorted(endpoints)]));
}

function addPort(
  byPort: Map<string, Map<string, Endpoint>>,
  { name = "", protocol = "TCP", port }: EndpointPort,
  from: readonly SliceEndpoint[],
) {
  // A port without a number means "all ports", which no Service can use.
  if (port === undefined || port === 0) return;
  const key = portKey(name, protocol);
  let endpoints = byPort.get(key);
  if (endpoints === undefined) byPort.set(key, (endpoints = new Map()));
  for (const one of from) {
    const endpoint = endpointOf(one, port);
    if (endpoint === undefined) continue;
    const at = hostPort(endpoint.address, port);
    // Twice while it moves between slices, or while a terminating Pod's address is already another Pod's: that one is preferred.
    if (!endpoints.has(at) || !endpoint.isTerminating) endpoints.set(at, endpoint);
  }
}

function endpointOf({ addresses, conditions = {}, hints, nodeName }: SliceEndpoint, port: number): Endpoint | undefined {
  const address = parseSloppyIp(addresses[0] ?? "");
  if (address === undefined) return undefined;
  return {
    address: formatIp(address),
    port,
    ...(nodeName === undefined ? {} : { nodeName }),
    isReady: conditions.ready ?? true,
    isServing: conditions.serving ?? true,
    isTerminating: conditions.terminating ?? false,
    zoneHints: hints?.forZones?.map(({ name }) => name) ?? [],
    nodeHints: hints?.forNodes?.map(({ name }) => name) ?? [],
  };
}

function sorted(endpoints: ReadonlyMap<string, Endpoint>): readonly Endpoint[] {
  return [...endpoints].sort(([a], [b]) => compareKeys(a, b)).map(([, endpoint]) => endpoint);
}
