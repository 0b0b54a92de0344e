import { equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { choosePodSubnet, overlap } from "./pod-subnet.ts";

describe("choosePodSubnet returns the first unused range", () => {
  for (const { it, options, chosen } of [
    { it: "on a machine with one network", options: { taken: ["0.0.0.0/0", "192.168.1.0/24"] }, chosen: "10.244.0.0/16" },
    { it: "beside another cluster", options: { taken: ["10.244.0.0/24"] }, chosen: "10.245.0.0/16" },
    { it: "beside a route that covers several", options: { taken: ["10.240.0.0/12"] }, chosen: "10.128.0.0/16" },
    { it: "the previous one is kept", options: { preferred: "10.77.0.0/16", taken: ["10.244.0.0/16"] }, chosen: "10.77.0.0/16" },
    {
      it: "the previous one is replaced if it is in use by now",
      options: { preferred: "10.77.0.0/16", taken: ["10.77.5.0/24"] },
      chosen: "10.244.0.0/16",
    },
    { it: "undefined if all are in use", options: { taken: ["10.0.0.0/8"] }, chosen: undefined },
  ]) {
    test(it, () => equal(choosePodSubnet(options), chosen));
  }
});

describe("overlap of address ranges", () => {
  for (const { one, other, does } of [
    { one: "10.1.0.0/16", other: "10.1.2.0/24", does: true },
    { one: "10.1.2.0/24", other: "10.1.0.0/16", does: true },
    { one: "10.1.0.0/16", other: "10.2.0.0/16", does: false },
    { one: "128.0.0.0/1", other: "200.1.1.1/32", does: true },
    { one: "0.0.0.0/0", other: "10.0.0.0/8", does: true },
    { one: "10.1.2.3/32", other: "10.1.2.4/32", does: false },
  ]) {
    test(`${one} and ${other} overlap: ${does}`, () => equal(overlap(one, other), does));
  }
});

test("an invalid range is rejected with its text", () => {
  for (const range of ["10.0.0.0", "10.0.0.256/8", "10.0.0.0/33", "fd00::/8"])
    throws(() => overlap(range, "10.0.0.0/8"), new RegExp(`"${range}"`));
});
