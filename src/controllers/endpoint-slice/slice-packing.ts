/**
 * Puts endpoints into slices so that few slices change: an endpoint stays where it is, room that others leave is used first in slices that
 * change anyway, then in one slice that all the rest fit into, and only then are slices added. As upstream: slices that are half empty are
 * not put together, because every write goes to every node of the cluster. Pure.
 */
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { without } from "../../api/members.ts";
import { deepEqual } from "../../base/deep.ts";
import { portSetKey } from "../shared/service-endpoints/port-set.ts";
import type { EndpointGroup } from "./desired-endpoints.ts";

/** A slice as it is to be. */
export interface PlannedSlice {
  /** Absent: it is to be made. */
  readonly existing?: EndpointSlice;
  readonly ports: readonly EndpointPort[];
  /** Of one that is not changed: with the hints that it has. Otherwise without. */
  readonly endpoints: readonly Endpoint[];
  readonly isChanged: boolean;
}

export interface PackedSlices {
  readonly slices: readonly PlannedSlice[];
  readonly surplus: readonly EndpointSlice[];
}

export interface PackingOptions {
  /** How many endpoints a slice may have. */
  readonly max: number;
  /** Whether something else of it must be written, so that it costs nothing to change its endpoints as well. */
  isStale(slice: EndpointSlice): boolean;
}

/** `existing` are of one address family, all of them the Service's own. There is always at least one slice, if only an empty one. */
export function packEndpoints(
  groups: ReadonlyMap<string, EndpointGroup>,
  existing: readonly EndpointSlice[],
  options: PackingOptions,
): PackedSlices {
  const keyed = existing.map((slice) => ({ slice, key: portSetKey(slice.ports ?? []) }));
  const existingOf = (key: string): readonly EndpointSlice[] => keyed.filter((other) => other.key === key).map(({ slice }) => slice);
  const packed = [...groups].map(([key, group]) => packGroup(group, existingOf(key), options));
  const slices = packed.flatMap((group) => group.slices);
  const ofOtherPorts = keyed.filter(({ key }) => !groups.has(key)).map(({ slice }) => slice);
  const surplus = [...packed.flatMap((group) => group.surplus), ...ofOtherPorts];
  return recycle(slices.length === 0 ? [placeholder(surplus, options)] : slices, surplus);
}

/** Tells those who ask that the Service is known and has no endpoints. */
function placeholder(surplus: readonly EndpointSlice[], { isStale }: PackingOptions): PlannedSlice {
  const existing = surplus.find((slice) => isEmpty(slice) && !isStale(slice));
  const empty = { ports: [], endpoints: [] };
  return existing === undefined ? { ...empty, isChanged: true } : { ...empty, existing, isChanged: false };
}

function isEmpty({ ports, endpoints }: EndpointSlice): boolean {
  return (ports ?? []).length === 0 && (endpoints ?? []).length === 0;
}

/** One write instead of two: a slice that is to be made takes the place of one that is to go. */
function recycle(slices: readonly PlannedSlice[], surplus: readonly EndpointSlice[]): PackedSlices {
  const kept = new Set(slices.map(({ existing }) => existing));
  const free = surplus.filter((slice) => !kept.has(slice));
  const planned = slices.map((slice) => {
    const existing = slice.existing ?? free.shift();
    return existing === undefined ? slice : { ...slice, existing };
  });
  return { slices: planned, surplus: free };
}

// ── one group of ports ──────────────────────────────────────────────────────────────────────────────

/** While it is being filled. */
interface Filling {
  readonly existing?: EndpointSlice;
  readonly ports: readonly EndpointPort[];
  endpoints: Endpoint[];
  isChanged: boolean;
}

function packGroup({ ports, endpoints }: EndpointGroup, existing: readonly EndpointSlice[], options: PackingOptions): PackedSlices {
  const missing = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const kept = existing.map((slice) => keepDesired(slice, missing, options));
  const surplus = kept.filter(({ endpoints: left, isChanged }) => left.length === 0 && isChanged);
  const fillings = kept.filter((filling) => !surplus.includes(filling));

  const rest = [...missing.values()];
  const changing = fillings.filter(({ isChanged }) => isChanged).toSorted((a, b) => b.endpoints.length - a.endpoints.length);
  for (const filling of changing) fill(filling, rest, options);
  while (rest.length > 0) {
    const roomy = rest.length < options.max ? closestFit(fillings, rest.length, options) : undefined;
    const filling = roomy ?? { ports, endpoints: [], isChanged: true };
    if (roomy === undefined) fillings.push(filling);
    fill(filling, rest, options);
  }
  return { slices: fillings.map(plannedOf), surplus: surplus.flatMap((filling) => filling.existing ?? []) };
}

/** What it has and is to keep is taken from what is missing, so that nothing is in two slices. A slice that is too full gives some away. */
function keepDesired(existing: EndpointSlice, missing: Map<string, Endpoint>, { max, isStale }: PackingOptions): Filling {
  const before = existing.endpoints ?? [];
  const endpoints: Endpoint[] = [];
  let isSame = true;
  for (const endpoint of before) {
    const key = endpointKey(endpoint);
    const desired = missing.get(key);
    if (desired === undefined || endpoints.length === max) continue;
    missing.delete(key);
    endpoints.push(desired);
    isSame &&= deepEqual(desired, withoutHints(endpoint));
  }
  const isChanged = !isSame || endpoints.length < before.length || isStale(existing);
  return { existing, ports: existing.ports ?? [], endpoints, isChanged };
}

function fill(filling: Filling, rest: Endpoint[], { max }: PackingOptions): void {
  const taken = rest.splice(0, max - filling.endpoints.length);
  if (taken.length === 0) return;
  filling.endpoints.push(...taken);
  filling.isChanged = true;
}

/** Of those that do not change yet and have room for all: the one that is fullest then. */
function closestFit(fillings: readonly Filling[], count: number, { max }: PackingOptions): Filling | undefined {
  let fullest: Filling | undefined;
  for (const filling of fillings) {
    if (filling.isChanged || filling.endpoints.length + count > max) continue;
    if (fullest === undefined || filling.endpoints.length > fullest.endpoints.length) fullest = filling;
  }
  return fullest;
}

function plannedOf({ existing, ports, endpoints, isChanged }: Filling): PlannedSlice {
  if (existing === undefined) return { ports, endpoints, isChanged };
  return { existing, ports, endpoints: isChanged ? endpoints : (existing.endpoints ?? []), isChanged };
}

/** What makes it the same endpoint, whatever else of it changes. */
function endpointKey({ addresses, hostname = "", targetRef }: Endpoint): string {
  return [...addresses.toSorted(), hostname, targetRef?.namespace ?? "", targetRef?.name ?? ""].join(" ");
}

export function withoutHints(endpoint: Endpoint): Endpoint {
  return without(endpoint, "hints");
}
