import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { portSetKey } from "../shared/service-endpoints/port-set.ts";
import type { EndpointGroup } from "./desired-endpoints.ts";
import { packEndpoints, type PackedSlices } from "./slice-packing.ts";

const HTTP: readonly EndpointPort[] = [{ name: "http", port: 80, protocol: "TCP" }];
const DNS: readonly EndpointPort[] = [{ name: "dns", port: 53, protocol: "UDP" }];
const MAX = 3;

function anEndpoint(name: string, { ready = true } = {}): Endpoint {
  return { addresses: [`10.0.0.${name}`], conditions: { ready }, targetRef: { kind: "Pod", name } };
}

function group(ports: readonly EndpointPort[], ...names: readonly string[]): readonly [string, EndpointGroup] {
  return [portSetKey(ports), { ports, endpoints: names.map((name) => anEndpoint(name)) }];
}

function aSlice(name: string, ports: readonly EndpointPort[], endpoints: readonly Endpoint[]): EndpointSlice {
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { name }, addressType: "IPv4", ports, endpoints };
}

function slice(name: string, ports: readonly EndpointPort[], ...names: readonly string[]): EndpointSlice {
  return aSlice(
    name,
    ports,
    names.map((one) => anEndpoint(one)),
  );
}

function pack(
  groups: readonly (readonly [string, EndpointGroup])[],
  existing: readonly EndpointSlice[],
  stale: readonly string[] = [],
): PackedSlices {
  return packEndpoints(new Map(groups), existing, { max: MAX, isStale: ({ metadata }) => stale.includes(metadata.name) });
}

/** "s1! 1,2": "!" is an update, "+" a creation, "-" a deletion. */
function summary({ slices, surplus }: PackedSlices): readonly string[] {
  const planned = slices.map(({ existing, endpoints, isChanged }) => {
    const name = existing === undefined ? "+" : `${existing.metadata.name}${isChanged ? "!" : ""}`;
    return `${name} ${endpoints.map(({ targetRef }) => targetRef?.name).join(",")}`.trim();
  });
  return [...planned, ...surplus.map(({ metadata }) => `-${metadata.name}`)];
}

const rows: readonly { readonly it: string; readonly packed: PackedSlices; readonly shows: readonly string[] }[] = [
  { it: "no endpoints make an empty slice", packed: pack([], []), shows: ["+"] },
  { it: "an empty slice is enough for no endpoints", packed: pack([], [slice("s1", [])]), shows: ["s1"] },
  { it: "the last endpoint leaves an empty slice", packed: pack([], [slice("s1", HTTP, "1")]), shows: ["s1!"] },
  { it: "one empty slice is enough", packed: pack([], [slice("s1", []), slice("s2", HTTP, "1")]), shows: ["s1", "-s2"] },
  { it: "endpoints fill slices", packed: pack([group(HTTP, "1", "2", "3", "4")], []), shows: ["+ 1,2,3", "+ 4"] },
  { it: "nothing changes without a change", packed: pack([group(HTTP, "2", "1")], [slice("s1", HTTP, "1", "2")]), shows: ["s1 1,2"] },
  { it: "the empty slice is used for the first ones", packed: pack([group(HTTP, "1")], [slice("s1", [])]), shows: ["s1! 1"] },
  {
    it: "a removed endpoint is replaced by the next",
    packed: pack([group(HTTP, "2", "3", "4", "5")], [slice("s1", HTTP, "1", "2", "3"), slice("s2", HTTP, "4")]),
    shows: ["s1! 2,3,5", "s2 4"],
  },
  {
    it: "endpoints that fit into one slice are added to the fullest that has capacity for all",
    packed: pack([group(HTTP, "1", "2", "3", "4")], [slice("s1", HTTP, "1"), slice("s2", HTTP, "2", "3")]),
    shows: ["s1 1", "s2! 2,3,4"],
  },
  {
    it: "endpoints that fit into no slice get a new one",
    packed: pack([group(HTTP, "1", "2", "3", "4", "5", "6")], [slice("s1", HTTP, "1", "2"), slice("s2", HTTP, "3", "4")]),
    shows: ["s1 1,2", "s2 3,4", "+ 5,6"],
  },
  {
    it: "a slice that is written anyway is filled first",
    packed: pack([group(HTTP, "1", "2", "3", "4")], [slice("s1", HTTP, "1"), slice("s2", HTTP, "2", "3")], ["s1"]),
    shows: ["s1! 1,4", "s2 2,3"],
  },
  {
    it: "of several that are written anyway the fullest is filled first",
    packed: pack([group(HTTP, "1", "2", "3", "4")], [slice("s1", HTTP, "1"), slice("s2", HTTP, "2", "3")], ["s1", "s2"]),
    shows: ["s1! 1", "s2! 2,3,4"],
  },
  { it: "other ports have other slices", packed: pack([group(HTTP, "1"), group(DNS, "2")], []), shows: ["+ 1", "+ 2"] },
  {
    it: "a slice whose ports were removed is reused for the new ports",
    packed: pack([group(DNS, "1")], [slice("s1", HTTP, "1"), slice("s2", HTTP, "2")]),
    shows: ["s1! 1", "-s2"],
  },
  {
    it: "an endpoint that is in two slices stays in the first",
    packed: pack([group(HTTP, "1", "2")], [slice("s1", HTTP, "1"), slice("s2", HTTP, "1", "2")]),
    shows: ["s1 1", "s2! 2"],
  },
  {
    it: "endpoints over the limit of a slice are moved",
    packed: pack([group(HTTP, "1", "2", "3", "4")], [slice("s1", HTTP, "1", "2", "3", "4")]),
    shows: ["s1! 1,2,3", "+ 4"],
  },
];

for (const { it, packed, shows } of rows) test(`slice packing: ${it}`, () => deepEqual(summary(packed), shows));

test("a changed endpoint is updated in place, and hints of unchanged ones are kept", () => {
  const hinted = { ...anEndpoint("1"), hints: { forZones: [{ name: "a" }] } };
  const existing = [aSlice("s1", HTTP, [hinted]), aSlice("s2", HTTP, [anEndpoint("2", { ready: false })])];

  const { slices } = pack([group(HTTP, "1", "2")], existing);

  deepEqual(
    slices.map(({ endpoints, isChanged }) => ({ endpoints, isChanged })),
    [
      { endpoints: [hinted], isChanged: false },
      { endpoints: [anEndpoint("2")], isChanged: true },
    ],
  );
});

/** Any number of endpoints of two sets of ports, over slices from any previous state. */
const state = fc.record({
  http: fc.uniqueArray(fc.integer({ min: 1, max: 12 })),
  dns: fc.uniqueArray(fc.integer({ min: 1, max: 5 })),
});

test("under any changes each endpoint is in one slice, none is too full, and a second reconciliation changes nothing", () => {
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 6 }), (states) => {
      let existing: readonly EndpointSlice[] = [];
      for (const { http, dns } of states) {
        const groups = [group(HTTP, ...http.map(String)), group(DNS, ...dns.map(String))].filter(
          ([, { endpoints }]) => endpoints.length > 0,
        );
        const packed = pack(groups, existing);
        existing = packed.slices.map(({ existing: before, ports, endpoints }, index) =>
          aSlice(before?.metadata.name ?? `${existing.length}-${index}`, ports, endpoints),
        );

        const shown = (ports: readonly EndpointPort[]) =>
          existing
            .filter((one) => portSetKey(one.ports ?? []) === portSetKey(ports))
            .flatMap(({ endpoints = [] }) => endpoints.map(({ targetRef }) => Number(targetRef?.name)))
            .toSorted((a, b) => a - b);
        deepEqual([shown(HTTP), shown(DNS)], [http.toSorted((a, b) => a - b), dns.toSorted((a, b) => a - b)]);
        ok(existing.length > 0);
        ok(existing.every(({ endpoints = [] }) => endpoints.length <= MAX));
        const again = pack(groups, existing);
        equal(again.surplus.length, 0);
        ok(again.slices.every(({ isChanged }) => !isChanged));
      }
    }),
  );
});
