/**
 * Canonical form of Endpoints subsets: every address once per port, ports with the same addresses together, all sorted. Equivalent
 * Endpoints are then equal. Subsets are ordered by port; upstream's order follows from the uids of Pods, so that no client can rely on it.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../../api/generated/core/v1.ts";
import { inSubsetOrder, portKey, portSetKey } from "./port-set.ts";

const PORT_MAX = 65_535;

interface Placed {
  readonly key: string;
  readonly address: EndpointAddress;
  readonly isReady: boolean;
}

interface PortPlaces {
  /** Absent: the addresses have no port. */
  readonly port: EndpointPort | undefined;
  readonly places: Map<string, Placed>;
}

export function repackSubsets(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  const groups = new Map<string, { readonly places: readonly Placed[]; readonly ports: EndpointPort[] }>();
  for (const { port, places } of placesByPort(subsets)) {
    const sorted = [...places.values()].toSorted((a, b) => compareText(a.key, b.key));
    const key = sorted.map((place) => `${place.key} ${place.isReady}`).join(",");
    const group = groups.get(key) ?? { places: sorted, ports: [] };
    groups.set(key, group);
    if (port !== undefined) group.ports.push(port);
  }
  return [...groups.values()].map(subsetOf).toSorted(compareSubsets);
}

function placesByPort(subsets: readonly EndpointSubset[]): Iterable<PortPlaces> {
  const byPort = new Map<string, PortPlaces>();
  // The first entry of an address holds for all its ports.
  const addresses = new Map<string, EndpointAddress>();
  for (const subset of subsets) {
    const { ports = [] } = subset;
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const key = port === undefined ? "" : portKey(port);
      const { places } = byPort.get(key) ?? {};
      const target: PortPlaces = places === undefined ? { port, places: new Map() } : { port, places };
      byPort.set(key, target);
      place(subset, target.places, addresses);
    }
  }
  return byPort.values();
}

/** If it is both ready and not ready at one port, it is not ready. */
function place(
  { addresses = [], notReadyAddresses = [] }: EndpointSubset,
  places: Map<string, Placed>,
  known: Map<string, EndpointAddress>,
) {
  const add = (address: EndpointAddress, isReady: boolean): void => {
    const key = addressKey(address);
    const first = known.get(key) ?? address;
    known.set(key, first);
    places.set(key, { key, address: first, isReady: isReady && (places.get(key)?.isReady ?? true) });
  };
  for (const address of addresses) add(address, true);
  for (const address of notReadyAddresses) add(address, false);
}

/**
 * Several Pods of one node may share an address. A space sorts before every character of an address or uid, so that keys sort by their
 * parts.
 */
function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ""}`;
}

function subsetOf({ places, ports }: { readonly places: readonly Placed[]; readonly ports: readonly EndpointPort[] }): EndpointSubset {
  const ready = places.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReady = places.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports: inSubsetOrder(ports) }),
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** No two share a port, and at most one has none. */
function compareSubsets({ ports: a = [] }: EndpointSubset, { ports: b = [] }: EndpointSubset): number {
  return lowestPort(a) - lowestPort(b) || compareText(portSetKey(a), portSetKey(b));
}

function lowestPort(ports: readonly EndpointPort[]): number {
  return ports.reduce((lowest, { port }) => Math.min(lowest, port), PORT_MAX);
}
