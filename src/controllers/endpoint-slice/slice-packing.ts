/**
 * Packs endpoints into slices with few writes: an endpoint stays where it is, free places are used first in slices that change anyway, then
 * in one slice that all the rest fit into, and only then are slices added. As upstream, half-empty slices are not merged, because every
 * write is sent to every node. Pure.
 */
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { without } from "../../api/members.ts";
import { deepEqual } from "../../base/deep.ts";
import { portSetKey } from "../shared/service-endpoints/port-set.ts";
import type { EndpointGroup } from "./desired-endpoints.ts";

/** A desired slice. */
export interface PlannedSlice {
  /** Absent: to be created. */
  readonly existing?: EndpointSlice;
  readonly ports: readonly EndpointPort[];
  /** If unchanged: with its hints. Otherwise without. */
  readonly endpoints: readonly Endpoint[];
  readonly isChanged: boolean;
}

export interface PackedSlices {
  readonly slices: readonly PlannedSlice[];
  readonly surplus: readonly EndpointSlice[];
}

export interface PackingOptions {
  /** Maximum endpoints per slice. */
  readonly max: number;
  /** Whether it is written anyway, so that changing its endpoints is free. */
  isStale(slice: EndpointSlice): boolean;
}

/** `existing` are of one address family, all of them the Service's own. There is always at least one slice, possibly empty. */
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

/** Shows clients that the Service is known and has no endpoints. */
function placeholder(surplus: readonly EndpointSlice[], { isStale }: PackingOptions): PlannedSlice {
  const existing = surplus.find((slice) => isEmpty(slice) && !isStale(slice));
  const empty = { ports: [], endpoints: [] };
  return existing === undefined ? { ...empty, isChanged: true } : { ...empty, existing, isChanged: false };
}

function isEmpty({ ports, endpoints }: EndpointSlice): boolean {
  return (ports ?? []).length === 0 && (endpoints ?? []).length === 0;
}

/** One write instead of two: a new slice replaces one to be deleted. */
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

/** While being filled. */
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

/** Kept endpoints are removed from the missing ones, so that none is in two slices. A slice that is too full gives some away. */
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

/** Of the unchanged slices with room for all: the fullest. */
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

/** Identity of an endpoint, whatever else changes. */
function endpointKey({ addresses, hostname = "", targetRef }: Endpoint): string {
  return [...addresses.toSorted(), hostname, targetRef?.namespace ?? "", targetRef?.name ?? ""].join(" ");
}

export function withoutHints(endpoint: Endpoint): Endpoint {
  return without(endpoint, "hints");
}
