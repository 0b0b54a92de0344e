import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import type { EndpointSubset } from "../../../api/generated/core/v1.ts";
import { repackSubsets } from "./subsets.ts";

const A = { ip: "10.0.0.1" };
const B = { ip: "10.0.0.2" };
const HTTP = { name: "http", port: 80, protocol: "TCP" } as const;
const DNS = { name: "dns", port: 53, protocol: "UDP" } as const;

interface Row {
  readonly it: string;
  readonly from: readonly EndpointSubset[];
  readonly to: readonly EndpointSubset[];
}

const rows: readonly Row[] = [
  { it: "nothing stays nothing", from: [], to: [] },
  {
    it: "addresses of one port come together, in order",
    from: [
      { addresses: [B], ports: [HTTP] },
      { addresses: [A], ports: [HTTP] },
    ],
    to: [{ addresses: [A, B], ports: [HTTP] }],
  },
  {
    it: "ports of the same addresses come together, in upstream's order",
    from: [
      { addresses: [A], ports: [HTTP] },
      { addresses: [A], ports: [DNS] },
    ],
    to: [{ addresses: [A], ports: [HTTP, DNS] }],
  },
  {
    it: "ports of other addresses stay apart, the lower one first",
    from: [
      { addresses: [A, B], ports: [HTTP] },
      { addresses: [A], ports: [DNS] },
    ],
    to: [
      { addresses: [A], ports: [DNS] },
      { addresses: [A, B], ports: [HTTP] },
    ],
  },
  {
    it: "what is ready and not ready is not ready",
    from: [
      { addresses: [A, B], ports: [HTTP] },
      { notReadyAddresses: [A], ports: [HTTP] },
    ],
    to: [{ addresses: [B], notReadyAddresses: [A], ports: [HTTP] }],
  },
  {
    it: "what is ready at one port only is in two",
    from: [
      { addresses: [A], ports: [HTTP] },
      { notReadyAddresses: [A], ports: [DNS] },
    ],
    to: [
      { notReadyAddresses: [A], ports: [DNS] },
      { addresses: [A], ports: [HTTP] },
    ],
  },
  { it: "addresses need no ports", from: [{ addresses: [B] }, { addresses: [A] }], to: [{ addresses: [A, B] }] },
  {
    it: "one address of two Pods is two",
    from: [
      {
        addresses: [
          { ...A, targetRef: { uid: "2" } },
          { ...A, targetRef: { uid: "1" } },
        ],
        ports: [HTTP],
      },
    ],
    to: [
      {
        addresses: [
          { ...A, targetRef: { uid: "1" } },
          { ...A, targetRef: { uid: "2" } },
        ],
        ports: [HTTP],
      },
    ],
  },
];

for (const { it, from, to } of rows) test(`subsets: ${it}`, () => deepEqual(repackSubsets(from), to));

test("repacking is idempotent, whatever the order", () => {
  const address = fc.integer({ min: 1, max: 4 }).map((last) => ({ ip: `10.0.0.${last}` }));
  const subset: fc.Arbitrary<EndpointSubset> = fc.record({
    addresses: fc.array(address, { maxLength: 3 }),
    notReadyAddresses: fc.array(address, { maxLength: 2 }),
    ports: fc.uniqueArray(fc.constantFrom(HTTP, DNS, { ...HTTP, name: "other" }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(subset, { maxLength: 5 }), (subsets) => {
      const packed = repackSubsets(
        subsets.filter(({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length > 0),
      );
      deepEqual(repackSubsets(packed), packed);
      deepEqual(repackSubsets(packed.toReversed()), packed);
    }),
  );
});
