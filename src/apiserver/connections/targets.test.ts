import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { isForwardable } from "../shared/forwardable.ts";
import { parseNamedPort, portNumber } from "./named-port.ts";

const addresses: readonly [address: string, allowed: boolean][] = [
  ["192.0.2.1", true],
  ["10.0.0.1", true],
  ["010.0.0.1", true],
  ["2001:db8::1", true],
  ["fd00::1", true],
  ["", false],
  ["localhost", false],
  ["0.0.0.0", false],
  ["127.0.0.1", false],
  ["127.255.0.1", false],
  ["169.254.169.254", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["::1", false],
  ["fe80::1", false],
  ["ff02::1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:169.254.1.1", false],
  ["::ffff:192.0.2.1", true],
];

for (const [address, allowed] of addresses) {
  test(`the API server does ${allowed ? "" : "not "}proxy to "${address}"`, () => {
    equal(isForwardable(address), allowed);
  });
}

const names: readonly [text: string, means: ReturnType<typeof parseNamedPort>][] = [
  ["web", { scheme: "", name: "web", port: "" }],
  ["web:80", { scheme: "", name: "web", port: "80" }],
  ["web:", { scheme: "", name: "web", port: "" }],
  ["https:web:http", { scheme: "https", name: "web", port: "http" }],
  [":web:80", { scheme: "", name: "web", port: "80" }],
  ["ftp:web:80", undefined],
  [":80", undefined],
  ["a:b:c:d", undefined],
  ["", undefined],
];

for (const [text, means] of names) {
  test(`"${text}" in a proxy path is parsed as ${JSON.stringify(means)}`, () => {
    deepEqual(parseNamedPort(text), means);
  });
}

test("the port of a proxy path defaults to that of the scheme", () => {
  deepEqual(
    [portNumber({ scheme: "", port: "" }), portNumber({ scheme: "https", port: "" }), portNumber({ scheme: "https", port: "8080" })],
    [80, 443, 8080],
  );
});

for (const [port, why] of [
  ["99999", "address 99999: invalid port"],
  ["0", "address 0: invalid port"],
  ["web", "lookup tcp/web: unknown port"],
] as const) {
  test(`the port "${port}" of a proxy path is rejected`, () => {
    throws(() => portNumber({ scheme: "", port }), {
      reason: "ServiceUnavailable",
      message: `error trying to reach service: dial tcp: ${why}`,
    });
  });
}
