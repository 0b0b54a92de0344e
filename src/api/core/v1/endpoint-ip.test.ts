import assert from "node:assert/strict";
import test from "node:test";
import { problems } from "../../testing/kind.ts";
import { validateEndpointIp } from "./endpoint-ip.ts";

const ROWS: readonly [address: string, problem: string | undefined][] = [
  ["10.0.0.1", undefined],
  ["2001:db8::1", undefined],
  ["a", "must be a valid IP address"],
  ["::", "may not be unspecified (::)"],
  ["::ffff:127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["169.254.0.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["febf::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["224.0.0.5", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
  ["ff32::1", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
  ["224.0.1.1", undefined],
];

for (const [address, problem] of ROWS) {
  test(`${address} is ${problem === undefined ? "allowed" : "rejected"} as an endpoint address`, () => {
    const expected = problem === undefined ? [] : [`ip: Invalid value: ${JSON.stringify(address)}: ${problem}`];

    assert.deepEqual(problems(validateEndpointIp(address, "ip")), expected);
  });
}
