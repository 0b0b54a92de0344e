import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { uplinkOf, type Route } from "./network-links.ts";

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
