import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../../generated/core/v1.ts";
import { doAnyCollide, hostPortsOf, type HostPort } from "./host-ports.ts";
import { buildPod } from "../../../testing/pod.ts";

test("the host ports of a Pod are those of regular containers and sidecars, not of other init containers", () => {
  const sidecar: Container = { name: "s", restartPolicy: "Always", ports: [{ containerPort: 1, hostPort: 81, protocol: "UDP" }] };
  const first: Container = { name: "i", ports: [{ containerPort: 1, hostPort: 82 }] };
  const regular: Container = { name: "c", ports: [{ containerPort: 1, hostPort: 80, hostIP: "10.0.0.1" }, { containerPort: 2 }] };
  const pod: Pod = buildPod({ metadata: { name: "p" }, spec: { initContainers: [first, sidecar], containers: [regular] } });

  const ports = hostPortsOf(pod);

  deepEqual(ports, [
    { ip: "0.0.0.0", protocol: "UDP", port: 81 },
    { ip: "10.0.0.1", protocol: "TCP", port: 80 },
  ]);
});

const CASES: readonly (readonly [when: string, used: HostPort, collides: boolean])[] = [
  ["the same port of the same address is used", port("10.0.0.1", "TCP", 80), true],
  ["the same port of all addresses is used", port("0.0.0.0", "TCP", 80), true],
  ["the same port of another address is used", port("10.0.0.2", "TCP", 80), false],
  ["another port is used", port("10.0.0.1", "TCP", 81), false],
  ["it is used for another protocol", port("10.0.0.1", "UDP", 80), false],
];

for (const [when, used, collides] of CASES) {
  test(`a host port ${collides ? "conflicts" : "does not conflict"} when ${when}`, () => {
    equal(doAnyCollide([port("10.0.0.9", "TCP", 9), port("10.0.0.1", "TCP", 80)], [port("0.0.0.0", "SCTP", 80), used]), collides);
  });
}

test("a host port on all addresses conflicts with that of any address", () => {
  equal(doAnyCollide([port("0.0.0.0", "TCP", 80)], [port("10.0.0.2", "TCP", 80)]), true);
});

function port(ip: string, protocol: string, number: number): HostPort {
  return { ip, protocol, port: number };
}
