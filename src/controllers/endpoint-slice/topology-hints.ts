/**
 * Distributes the endpoints of a Service among zones by their CPUs (upstream's "topology aware routing"): every endpoint serves its own
 * zone, except those that a zone with a surplus gives to one with a deficit. If that would overload some endpoints, there are no hints, and
 * an event says why. Existing hints stay as long as they fit, so that few slices change. Pure.
 */
import type { Endpoint, EndpointHints } from "../../api/generated/discovery.k8s.io/v1.ts";
import { isReady, withHintsOf } from "./hints.ts";
import type { PlannedSlice } from "./slice-packing.ts";
import type { ZoneShares } from "./zone-shares.ts";

/** Overload threshold of an endpoint: 20 %. */
const OVERLOAD_MAX = 0.2;
/** Less than half an endpoint is not worth moving one. */
const MOVED_MIN = 0.5;

export type HintedSlices = { readonly slices: readonly PlannedSlice[] } | { readonly refused: string };

interface Allocation {
  readonly zone: string;
  /** Below this, the zone's endpoints are overloaded. */
  readonly minimum: number;
  /** Above this, other zones cannot have their minimum. */
  readonly maximum: number;
  readonly desired: number;
}

type Counts = Map<string, number>;

export function topologyHints(slices: readonly PlannedSlice[], shares: ZoneShares | undefined): HintedSlices {
  const readyCount = slices.reduce((sum, { endpoints }) => sum + endpoints.filter(isReady).length, 0);
  const allocations = allocate(readyCount, shares);
  if (typeof allocations === "string") return { refused: allocations };

  const counts: Counts = new Map();
  const kept = new Set(slices.filter((slice) => keepsHints(slice, allocations, counts)));
  const open = slices.filter((slice) => !kept.has(slice));
  const ready = open.flatMap(({ endpoints }) => endpoints.filter(isReady));
  for (const { zone = "" } of ready) {
    if (zone === "") return { refused: "One or more endpoints do not have a zone specified" };
    add(counts, zone, 1);
  }

  const moved = move(ready, transfers(allocations, counts));
  const hintsFor = (endpoint: Endpoint): EndpointHints | undefined =>
    isReady(endpoint) ? { forZones: [{ name: moved.get(endpoint) ?? endpoint.zone ?? "" }] } : undefined;
  return { slices: slices.map((slice) => (kept.has(slice) ? slice : withHintsOf(slice, hintsFor))) };
}

/** Endpoints per zone; or why there are no hints. */
function allocate(count: number, shares: ZoneShares | undefined): readonly Allocation[] | string {
  if (shares === undefined) return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
  const counted = `(${count} endpoints, ${shares.size} zones)`;
  if (shares.size > count) return `Insufficient number of endpoints ${counted}`;

  const wanted = [...shares].map(([zone, share]) => {
    const minimum = Math.ceil(share * count * (1 / (1 + OVERLOAD_MAX)));
    return { zone, minimum, desired: Math.max(share * count, minimum) };
  });
  const free = wanted.reduce((left, { minimum }) => left - minimum, count);
  if (free < 0) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counted}`;
  }
  return wanted.map((allocation) => ({ ...allocation, maximum: allocation.minimum + free }));
}

/** Whether an unchanged slice can keep its hints; if so, they are counted. */
function keepsHints({ endpoints, isChanged }: PlannedSlice, allocations: readonly Allocation[], counts: Counts): boolean {
  if (isChanged) return false;
  const here: Counts = new Map();
  for (const endpoint of endpoints.filter(isReady)) {
    const { forZones = [] } = endpoint.hints ?? {};
    if (forZones.length === 0) return false;
    for (const { name } of forZones) add(here, name, 1);
  }
  const maximum = new Map(allocations.map((allocation) => [allocation.zone, allocation.maximum]));
  for (const [zone, count] of here) if (count + (counts.get(zone) ?? 0) > (maximum.get(zone) ?? 0)) return false;
  for (const [zone, count] of here) add(counts, zone, count);
  return true;
}

interface Transfers {
  readonly giving: Counts;
  /** A zone for each endpoint that it receives, neediest first. */
  readonly receiving: readonly string[];
}

/** Whole endpoints, one at a time, from the largest surplus to the largest deficit. */
function transfers(allocations: readonly Allocation[], counts: Counts): Transfers {
  const surplus = allocations.map(({ zone, desired }) => [zone, (counts.get(zone) ?? 0) - desired] as const);
  // Separate, because a zone that has given one too many must not get it back.
  const tooMany: Counts = new Map(surplus.filter(([, number]) => number > 0));
  const tooFew: Counts = new Map(surplus.filter(([, number]) => number < 0).map(([zone, number]) => [zone, -number]));
  const giving: Counts = new Map();
  const receiving: string[] = [];
  for (;;) {
    const giver = greatest(tooMany);
    const receiver = greatest(tooFew);
    if (giver.number < MOVED_MIN || receiver.number < MOVED_MIN || (giver.number < 1 && receiver.number < 1)) return { giving, receiving };
    add(tooMany, giver.zone, -1);
    add(tooFew, receiver.zone, -1);
    add(giving, giver.zone, 1);
    receiving.push(receiver.zone);
  }
}

/** Of equal ones the first. */
function greatest(numbers: Counts): { readonly zone: string; readonly number: number } {
  let found = { zone: "", number: 0 };
  for (const [zone, number] of numbers) if (number > found.number) found = { zone, number };
  return found;
}

/** Which endpoint serves which other zone. */
function move(ready: readonly Endpoint[], { giving, receiving }: Transfers): ReadonlyMap<Endpoint, string> {
  const moved = new Map<Endpoint, string>();
  for (const endpoint of ready) {
    const { zone = "" } = endpoint;
    const receiver = receiving[moved.size];
    if (receiver === undefined || (giving.get(zone) ?? 0) === 0) continue;
    moved.set(endpoint, receiver);
    add(giving, zone, -1);
  }
  return moved;
}

function add(counts: Counts, zone: string, number: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + number);
}
