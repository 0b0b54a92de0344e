import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { nameserversOf, upstreamAddresses } from "./upstream-addresses.ts";

test("nameservers of resolv.conf are read in order", () => {
  deepEqual(nameserversOf("# c\nnameserver 192.0.2.1\nsearch a b\n  nameserver\t2001:db8::1 # x\nnameserver\n"), [
    "192.0.2.1",
    "2001:db8::1",
  ]);
});

test("addresses of this server itself are not used", () => {
  const own = { addresses: ["10.244.0.1", "10.96.0.10"], port: 5_353 };
  const { peers, problems } = upstreamAddresses(["10.96.0.10", "10.244.0.1:5353", "10.244.0.1:54", "192.0.2.1", "192.0.2.1:53", "x"], own);
  deepEqual(peers, [
    { address: "10.244.0.1", port: 54 },
    { address: "192.0.2.1", port: 53 },
  ]);
  equal(problems.length, 3);
});

test("loopback is this server if it listens on all addresses, at its port", () => {
  const own = { addresses: ["0.0.0.0"], port: 53 };
  deepEqual(upstreamAddresses(["127.0.0.1", "127.0.0.1:5353"], own).peers, [{ address: "127.0.0.1", port: 5_353 }]);
});
