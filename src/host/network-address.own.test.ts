import { equal, ok } from "node:assert/strict";
import { networkInterfaces } from "node:os";
import test from "node:test";
import { reachableAddress } from "./network-address.ts";

test("the address at which others reach this machine is one of its own and not loopback", () => {
  const outside = Object.values(networkInterfaces()).flatMap((found) => (found ?? []).filter(({ internal }) => !internal));
  const address = reachableAddress();

  if (outside.length === 0) equal(address, undefined);
  else ok(outside.some((found) => found.address === address) || outside.every((found) => /^(169\.254|fe80)/.test(found.address)));
});
