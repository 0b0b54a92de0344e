import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseIpv6Routes, uplinkOf, type Route } from "./network-links.ts";

describe("the uplink of a machine", () => {
  const route = (link: string, destination: string, metric = 0): Route => ({ link, destination, metric });
  const cases = [
    { it: "is the link of the default route", routes: [route("pods", "10.244.0.0/24"), route("eth0", "0.0.0.0/0")], uplink: "eth0" },
    {
      it: "is the one with the lowest metric of several",
      routes: [route("wlan0", "0.0.0.0/0", 600), route("eth0", "0.0.0.0/0", 100)],
      uplink: "eth0",
    },
    { it: "does not exist without a default route", routes: [route("pods", "10.244.0.0/24")], uplink: undefined },
  ];
  for (const { it, routes, uplink } of cases) test(it, () => equal(uplinkOf(routes), uplink));
});

test("the routing table of IPv6 is read as the kernel prints it", () => {
  const zero = "0".repeat(32);
  const table = [
    `fd000010024400010000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth0`,
    `${zero} 00 ${zero} 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0`,
    "",
  ].join("\n");
  deepEqual(parseIpv6Routes(table), [
    { link: "eth0", destination: "fd00:0010:0244:0001:0000:0000:0000:0000/64", metric: 256 },
    { link: "eth0", destination: "0000:0000:0000:0000:0000:0000:0000:0000/0", metric: 1_024 },
  ]);
});
