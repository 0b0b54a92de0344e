import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { machineNodeFacts, type MachineNodeOptions } from "./machine-node-facts.ts";

const OPTIONS: MachineNodeOptions = {
  machine: {
    hostname: "box",
    processors: 2,
    memoryBytes: 24 * 2 ** 30,
    hugePages: [
      { sizeBytes: 2 ** 30, totalBytes: 0 },
      { sizeBytes: 2 ** 21, totalBytes: 2 ** 22 },
    ],
    architecture: "amd64",
    operatingSystem: "linux",
    systemName: "Debian GNU/Linux 12 (bookworm)",
    kernelVersion: "6.1.0",
    machineId: "m",
    systemUuid: "s",
    bootId: "b",
  },
  nodeName: "node-a",
  nodeIps: ["10.0.0.7", "fd00::7"],
  diskBytes: 1_000_000_000,
  podsMax: 110,
  kubeletPort: 10_250,
};

test("a machine's capacity is reported in upstream's units", () => {
  deepEqual(machineNodeFacts(OPTIONS).capacity, {
    cpu: "2",
    "ephemeral-storage": "976562Ki",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "4096Ki",
    memory: "25165824Ki",
    pods: "110",
  });
});

test("the Hostname address of a Node is the Node's name, not the machine's", () => {
  const { addresses, system } = machineNodeFacts(OPTIONS);
  deepEqual(addresses, [
    { type: "InternalIP", address: "10.0.0.7" },
    { type: "InternalIP", address: "fd00::7" },
    { type: "Hostname", address: "node-a" },
  ]);
  equal(system.osImage, "Debian GNU/Linux 12 (bookworm)");
});
