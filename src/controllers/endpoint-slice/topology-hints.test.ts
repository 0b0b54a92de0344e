import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { Endpoint } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { PlannedSlice } from "./slice-packing.ts";
import { topologyHints } from "./topology-hints.ts";
import type { ZoneShares } from "./zone-shares.ts";

const SHARES = new Map([
  ["a", 0.5],
  ["b", 0.5],
]);

const NO_SHARES = "none";

/** "ab-": endpoints in zones a and b, and one without. Upper case: not ready. */
function endpoints(zones: string): readonly Endpoint[] {
  return zones.split("").map((letter, index) => {
    const zone = letter.toLowerCase();
    return { addresses: [`10.0.0.${index}`], conditions: { ready: letter === zone }, ...(zone === "-" ? {} : { zone }) };
  });
}

function changed(zones: string): PlannedSlice {
  return { ports: [], endpoints: endpoints(zones), isChanged: true };
}

/** `hints` has the zone of each: "ab"; an underscore: none. */
function unchanged(zones: string, hints: string): PlannedSlice {
  const hinted = endpoints(zones).map((endpoint, index) => {
    const name = hints[index] ?? "_";
    return name === "_" ? endpoint : { ...endpoint, hints: { forZones: [{ name }] } };
  });
  return { ports: [], endpoints: hinted, isChanged: false };
}

/** The hints of all slices, in the same letters; or why none exist. */
function hintsOf(slices: readonly PlannedSlice[], shares: ZoneShares | typeof NO_SHARES = SHARES): readonly string[] | string {
  const hinted = topologyHints(slices, shares === NO_SHARES ? undefined : shares);
  if ("refused" in hinted) return hinted.refused;
  return hinted.slices.map((slice) => slice.endpoints.map(({ hints }) => hints?.forZones?.[0]?.name ?? "_").join(""));
}

const rows: readonly { readonly it: string; readonly hints: readonly string[] | string; readonly are: readonly string[] | string }[] = [
  { it: "each serves its own zone if they are even", hints: hintsOf([changed("aabb")]), are: ["aabb"] },
  { it: "a zone that has too many gives to the other", hints: hintsOf([changed("aaab")]), are: ["baab"] },
  { it: "a zone without endpoints gets its part", hints: hintsOf([changed("aaaa")]), are: ["bbaa"] },
  { it: "what is not ready receives no traffic and does not count", hints: hintsOf([changed("aabbA")]), are: ["aabb_"] },
  {
    it: "zones get by their CPUs",
    hints: hintsOf(
      [changed("aaaaabbbbb")],
      new Map([
        ["a", 0.2],
        ["b", 0.8],
      ]),
    ),
    are: ["bbbaabbbbb"],
  },
  {
    it: "half of an endpoint is worth moving one that is too many",
    hints: hintsOf(
      [changed("aaaaaaaabbbccc")],
      new Map([
        ["a", 0.5],
        ["b", 0.25],
        ["c", 0.25],
      ]),
    ),
    are: ["baaaaaaabbbccc"],
  },
  { it: "hints that still fit stay, however they are", hints: hintsOf([unchanged("aabb", "baba")]), are: ["baba"] },
  { it: "a slice without hints gets them", hints: hintsOf([unchanged("aabb", "aab_")]), are: ["aabb"] },
  { it: "hints for a removed zone are recomputed", hints: hintsOf([unchanged("aabb", "aacc")]), are: ["aabb"] },
  {
    it: "what one slice has, another need not give",
    hints: hintsOf([unchanged("bb", "bb"), changed("aaaa")]),
    are: ["bb", "baaa"],
  },
  {
    it: "no hints without the shares of the zones",
    hints: hintsOf([changed("ab")], NO_SHARES),
    are: "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
  },
  {
    it: "no hints with fewer endpoints than zones",
    hints: hintsOf([changed("a")]),
    are: "Insufficient number of endpoints (1 endpoints, 2 zones)",
  },
  {
    it: "no hints if too few endpoints match the shares of the zones",
    hints: hintsOf(
      [changed("aab")],
      new Map([
        ["a", 0.4],
        ["b", 0.3],
        ["c", 0.3],
      ]),
    ),
    are: "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 3 zones)",
  },
  {
    it: "an endpoint without a zone forbids it",
    hints: hintsOf([changed("aab-")]),
    are: "One or more endpoints do not have a zone specified",
  },
];

for (const { it, hints, are } of rows) test(`topology hints: ${it}`, () => deepEqual(hints, are));

test("no zone gets so few endpoints that they are overloaded by more than 20 %", () => {
  const zone = fc.constantFrom("a", "b", "c");
  fc.assert(
    fc.property(
      fc.array(zone, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (zones, a, b) => {
        const shares = new Map(
          [
            ["a", a],
            ["b", b],
            ["c", 4],
          ].map(([name, cpus]) => [String(name), Number(cpus) / (a + b + 4)]),
        );
        const hints = hintsOf([changed(zones.join(""))], shares);
        if (typeof hints === "string") return;
        const [shown = ""] = hints;
        equal(shown.length, zones.length);
        // As many as the share demands, less the one endpoint that rounding may leave.
        for (const [name, share] of shares) {
          const count = shown.split("").filter((letter) => letter === name).length;
          equal(count >= Math.floor((share * zones.length) / 1.2) - 1, true, `${name}: ${count} of ${zones.length}`);
        }
      },
    ),
  );
});
