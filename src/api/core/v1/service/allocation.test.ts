import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject } from "../../../testing/kind.ts";
import type { Service } from "../../../generated/core/v1.ts";
import { services } from "../service.ts";
import {
  clusterIpNeeds,
  healthCheckNodePortNeed,
  heldClusterIps,
  heldHealthCheckNodePort,
  heldNodePorts,
  nodePortNeeds,
  withClusterIps,
  withHealthCheckNodePort,
  withNodePorts,
  type NodePortNeed,
} from "./allocation.ts";

const service = (spec: JsonObject): Service => newObject(services, { spec });

test("a Service needs an address of each of its families, a requested one or any", () => {
  const asked = service({ ports: [{ port: 1 }], clusterIP: "10.0.0.1", ipFamilies: ["IPv4", "IPv6"] });

  assert.deepEqual(clusterIpNeeds(asked), [
    { index: 0, family: "IPv4", requested: "10.0.0.1" },
    { index: 1, family: "IPv6" },
  ]);
  const given = withClusterIps(
    asked,
    new Map([
      [0, "10.0.0.1"],
      [1, "fd00::1"],
    ]),
  );
  assert.deepEqual([given.spec?.clusterIP, given.spec?.clusterIPs], ["10.0.0.1", ["10.0.0.1", "fd00::1"]]);
  assert.deepEqual(heldClusterIps(given), ["10.0.0.1", "fd00::1"]);
});

test("an update needs only addresses that the Service did not hold", () => {
  const before = service({ clusterIP: "10.0.0.1", ipFamilies: ["IPv4"] });
  const after = service({ clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4", "IPv6"] });

  assert.deepEqual(clusterIpNeeds(after, before), [{ index: 1, family: "IPv6" }]);
});

for (const spec of [
  { clusterIP: "None", ipFamilies: ["IPv4"] },
  { type: "ExternalName", externalName: "a" },
]) {
  test(`a Service of ${JSON.stringify(spec)} needs and holds no address`, () => {
    assert.deepEqual([clusterIpNeeds(service(spec)), heldClusterIps(service(spec))], [[], []]);
  });
}

const NODE_PORTS: readonly [title: string, after: JsonObject, before: JsonObject | undefined, needs: readonly NodePortNeed[]][] = [
  ["without node ports", { ports: [{ port: 1 }] }, undefined, []],
  [
    "with one port over two protocols",
    { type: "NodePort", ports: [{ port: 1 }, { port: 1, protocol: "UDP" }, { port: 2 }] },
    undefined,
    [{ indexes: [0, 1] }, { indexes: [2] }],
  ],
  [
    "that names the node port of one protocol",
    { type: "NodePort", ports: [{ port: 1 }, { port: 1, protocol: "UDP", nodePort: 30_001 }] },
    undefined,
    [{ indexes: [0, 1], requested: 30_001 }],
  ],
  [
    "that wants no more than it names",
    { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{ port: 1 }, { port: 2, nodePort: 30_001 }] },
    undefined,
    [{ indexes: [1], requested: 30_001 }],
  ],
  [
    "that has them already",
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }] },
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }] },
    [],
  ],
  [
    "that gets another port",
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }, { port: 2 }] },
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }] },
    [{ indexes: [1] }],
  ],
  [
    "that now names others",
    {
      type: "NodePort",
      ports: [
        { port: 1, nodePort: 30_002 },
        { port: 1, protocol: "UDP", nodePort: 30_002 },
      ],
    },
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }] },
    [{ indexes: [0], requested: 30_002 }],
  ],
];

for (const [title, after, before, needs] of NODE_PORTS) {
  test(`a Service ${title} needs ${JSON.stringify(needs)}`, () => {
    assert.deepEqual(nodePortNeeds(service(after), before && service(before)), needs);
  });
}

test("node ports are assigned to their ports, and held", () => {
  const given = withNodePorts(
    service({ type: "NodePort", ports: [{ port: 1 }, { port: 1, protocol: "UDP" }, { port: 2 }] }),
    new Map([
      [0, 30_001],
      [1, 30_001],
    ]),
  );

  assert.deepEqual(
    given.spec?.ports?.map(({ nodePort }) => nodePort),
    [30_001, 30_001, undefined],
  );
  assert.deepEqual(heldNodePorts(given), [30_001]);
});

test("a health check node port is allocated when first needed, and released when not", () => {
  const local = service({ type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 1 }] });
  const cluster = service({ type: "LoadBalancer", ports: [{ port: 1 }] });

  assert.deepEqual(healthCheckNodePortNeed(local), {});
  assert.deepEqual(healthCheckNodePortNeed(local, cluster), {});
  assert.deepEqual(healthCheckNodePortNeed(withHealthCheckNodePort(local, 30_005)), { requested: 30_005 });
  assert.equal(healthCheckNodePortNeed(local, local), undefined);
  assert.equal(healthCheckNodePortNeed(cluster, local), undefined);
  assert.deepEqual(
    [heldHealthCheckNodePort(withHealthCheckNodePort(local, 30_005)), heldHealthCheckNodePort(cluster)],
    [30_005, undefined],
  );
});
