import { equal, ok } from "node:assert/strict";
import { networkInterfaces } from "node:os";
import test from "node:test";
import { isOwnAddress, reachableAddress } from "./network-address.ts";

test("the external address of this machine is one of its own and not loopback", () => {
  const outside = Object.values(networkInterfaces()).flatMap((found) => (found ?? []).filter(({ internal }) => !internal));
  const address = reachableAddress();

  if (outside.length === 0) equal(address, undefined);
  else ok(outside.some((found) => found.address === address) || outside.every((found) => /^(169\.254|fe80)/.test(found.address)));
});

for (const [address, isOwn] of [
  ["127.0.0.1", true],
  ["127.3.2.1", true],
  ["::1", true],
  ["192.0.2.77", false],
  ["127.0.0.1.example.com", false],
  ["localhost", false],
] as const) {
  test(`${address} ${isOwn ? "is" : "is not"} an address of this machine`, () => {
    equal(isOwnAddress(address), isOwn);
  });
}
