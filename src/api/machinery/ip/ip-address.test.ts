import fc from "fast-check";
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import {
  addToIp,
  cidrContains,
  cidrSize,
  cidrsOverlap,
  compareIps,
  formatCidr,
  formatIp,
  lastAddressOf,
  networkOf,
  offsetIn,
  parseCidr,
  parseIp,
  parseSloppyCidr,
  parseSloppyIp,
  unmapIp,
  type Cidr,
  type IpAddress,
} from "./ip-address.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };

function written<T>(value: T | undefined, format: (value: T) => string): string | undefined {
  return value === undefined ? undefined : format(value);
}

test("addresses are parsed strictly or leniently, and formatted in canonical form", () => {
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ["10.0.0.1", "10.0.0.1", "10.0.0.1"],
    ["010.0.0.001", undefined, "10.0.0.1"],
    ["256.0.0.1", undefined, undefined],
    ["1.2.3", undefined, undefined],
    ["1.2.3.4.5", undefined, undefined],
    ["1.2.3.", undefined, undefined],
    ["::", "::", "::"],
    ["::1", "::1", "::1"],
    ["FE80::0ABC", "fe80::abc", "fe80::abc"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3", "1:0:0:2::3"],
    ["1:0:0:2:3:0:0:4", "1::2:3:0:0:4", "1::2:3:0:0:4"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0"],
    ["::ffff:1.2.3.4", "::ffff:1.2.3.4", "::ffff:1.2.3.4"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304", "64:ff9b::102:304"],
    ["::01.2.3.4", undefined, "::102:304"],
    ["00001::", undefined, "1::"],
    ["10000::", undefined, undefined],
    ["1::2::3", undefined, undefined],
    [":::", undefined, undefined],
    [":1", undefined, undefined],
    ["1:2:3:4:5:6:7:8:9", undefined, undefined],
    ["1:2:3:4:5:6:7::8", undefined, undefined],
    ["1.2.3.4::", undefined, undefined],
    ["fe80::1%eth0", undefined, undefined],
    ["", undefined, undefined],
  ];
  deepEqual(
    rows.map(([text]) => [text, written(parseIp(text), formatIp), written(parseSloppyIp(text), formatIp)]),
    rows,
  );
});

test("CIDRs are parsed strictly or leniently, and masked to their network address", () => {
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ["10.1.2.3/8", "10.0.0.0/8", "10.0.0.0/8"],
    ["10.1.2.3/08", undefined, "10.0.0.0/8"],
    ["0.0.0.0/0", "0.0.0.0/0", "0.0.0.0/0"],
    ["1.2.3.4/32", "1.2.3.4/32", "1.2.3.4/32"],
    ["1.2.3.4/33", undefined, undefined],
    ["2001:db8::1/64", "2001:db8::/64", "2001:db8::/64"],
    ["::/129", undefined, undefined],
    ["1.2.3.4", undefined, undefined],
    ["1.2.3.4/", undefined, undefined],
    ["1.2.3.4/+8", undefined, undefined],
    ["1.2.3.4/8/8", undefined, undefined],
  ];
  const first = (cidr: Cidr) => formatCidr(networkOf(cidr));
  deepEqual(
    rows.map(([text]) => [text, written(parseCidr(text), first), written(parseSloppyCidr(text), first)]),
    rows,
  );
});

test("addresses and offsets within a CIDR convert to each other", () => {
  const range = parseCidr("10.96.0.0/12")!;
  equal(cidrSize(range), 2n ** 20n);
  equal(formatIp(lastAddressOf(range)), "10.111.255.255");
  equal(formatIp(addToIp(range.address, 10)!), "10.96.0.10");
  equal(offsetIn(range, parseIp("10.96.1.0")!), 256n);
  equal(offsetIn(range, parseIp("10.112.0.0")!), undefined);
  equal(offsetIn(range, parseIp("::1")!), undefined);
  equal(addToIp(parseIp("255.255.255.255")!, 1), undefined);
  equal(addToIp(parseIp("::")!, -1), undefined);
});

test("CIDRs overlap if one contains the other", () => {
  const overlap = (a: string, b: string) => cidrsOverlap(parseCidr(a)!, parseCidr(b)!);
  deepEqual(
    [
      overlap("10.0.0.0/8", "10.1.0.0/16"),
      overlap("10.1.0.0/16", "10.0.0.0/8"),
      overlap("10.0.0.0/9", "10.128.0.0/9"),
      overlap("0.0.0.0/0", "::/0"),
    ],
    [true, true, false, false],
  );
});

test("an IPv4-mapped IPv6 address unmaps to its IPv4 address", () => {
  equal(formatIp(unmapIp(parseIp("::ffff:1.2.3.4")!)), "1.2.3.4");
  equal(formatIp(unmapIp(parseIp("::1.2.3.4")!)), "::102:304");
});

const anyIp: fc.Arbitrary<IpAddress> = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ family: 4 as const, value })),
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => ({ family: 6 as const, value })),
  // Runs of zeros are rare among random addresses and common among those in use.
  fc.array(fc.constantFrom(0n, 0n, 1n, 0xffffn), { minLength: 8, maxLength: 8 }).map((groups) => ({
    family: 6 as const,
    value: groups.reduce<bigint>((value, group) => (value << 16n) | group, 0n),
  })),
);

test("a formatted address parses to the same address", () => {
  fc.assert(
    fc.property(anyIp, (address) => {
      deepEqual(parseIp(formatIp(address)), address);
      deepEqual(parseSloppyIp(formatIp(address)), address);
    }),
    settings,
  );
});

test("a CIDR contains exactly the addresses from its first to its last", () => {
  const anyCidr = fc
    .tuple(anyIp, fc.nat({ max: 128 }))
    .map(([address, length]) => ({ address, prefixLength: address.family === 4 ? length % 33 : length }));
  fc.assert(
    fc.property(anyCidr, anyIp, (cidr, address) => {
      const isBetween = compareIps(networkOf(cidr).address, address) <= 0 && compareIps(address, lastAddressOf(cidr)) <= 0;
      equal(cidrContains(cidr, address), isBetween);
      equal(cidrContains(cidr, cidr.address), true);
    }),
    settings,
  );
});
