import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import { silentLogger } from "../../base/logger.ts";
import { createClient } from "../../client/rest-client.ts";
import { kubeletIdentity } from "../kubelet.ts";
import { startWorld, type World } from "../testing/world.ts";
import { CsiNodeManager } from "./csi-node-manager.ts";

const DRIVER = { name: "a.example", nodeId: "id-1", maxVolumes: 3, topology: { "a.example/zone": "z1" } };
const NEVER = new AbortController().signal;

async function scene(): Promise<{ world: World; manager: CsiNodeManager } & AsyncDisposable> {
  const world = await startWorld();
  await world.kubelet("n1");
  const client = createClient(world.transportFor(kubeletIdentity("n1")));
  const manager = new CsiNodeManager({ nodeName: "n1", client, clock: world.clock, log: silentLogger });
  return { world, manager, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

test("the CSINode of a node exists, belongs to its Node and names the migrated kinds", async () => {
  await using opened = await scene();
  const { world, manager } = opened;

  await manager.initialize(NEVER);
  await manager.initialize(NEVER);

  const { metadata, spec } = await world.client.get(csiNodes, { name: "n1" });
  const node = await world.node("n1");
  deepEqual(metadata.ownerReferences, [{ apiVersion: "v1", kind: "Node", name: "n1", uid: node.metadata.uid }]);
  equal(
    metadata.annotations?.["storage.alpha.kubernetes.io/migrated-plugins"],
    "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd," +
      "kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume",
  );
  equal(spec.drivers, null);
});

test("a registered driver is in the CSINode, the annotation and the labels of the Node; deregistered, only its labels stay", async () => {
  await using opened = await scene();
  const { world, manager } = opened;
  await manager.initialize(NEVER);

  await Promise.all([manager.install(DRIVER), manager.install({ name: "b.example", nodeId: "id-2", maxVolumes: 0, topology: {} })]);
  await manager.install(DRIVER);

  const zone = { name: "a.example", nodeID: "id-1", topologyKeys: ["a.example/zone"], allocatable: { count: 3 } };
  const { spec } = await world.client.get(csiNodes, { name: "n1" });
  deepEqual(spec.drivers, [zone, { name: "b.example", nodeID: "id-2", topologyKeys: null }]);
  const { metadata } = await world.node("n1");
  deepEqual(
    [metadata.labels?.["a.example/zone"], JSON.parse(metadata.annotations?.["csi.volume.kubernetes.io/nodeid"] ?? "")],
    ["z1", { "a.example": "id-1", "b.example": "id-2" }],
  );
  await manager.uninstall("a.example");
  await manager.uninstall("b.example");
  await manager.uninstall("b.example");
  const after = await world.node("n1");
  deepEqual(
    [(await world.client.get(csiNodes, { name: "n1" })).spec.drivers, after.metadata.annotations?.["csi.volume.kubernetes.io/nodeid"]],
    [null, undefined],
  );
  equal(after.metadata.labels?.["a.example/zone"], "z1");
});

test("a CSINode of an earlier Node of the same name is replaced", async () => {
  await using opened = await scene();
  const { world, manager } = opened;
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: "another" };
  const drivers = [{ name: "old.example", nodeID: "x" }];
  const metadata = { name: "n1", ownerReferences: [owner] };
  await world.client.create(csiNodes, { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata, spec: { drivers } });

  await manager.install(DRIVER);

  const { spec } = await world.client.get(csiNodes, { name: "n1" });
  deepEqual(
    spec.drivers.map(({ name }) => name),
    ["a.example"],
  );
});

test("a topology label with another value, and an empty node id, refuse the driver", async () => {
  await using opened = await scene();
  const { world, manager } = opened;
  await world.client.patch(nodes, { name: "n1" }, { type: "merge", value: { metadata: { labels: { "a.example/zone": "other" } } } });

  const refused = rejects(manager.install(DRIVER), {
    message:
      "error updating Node object with CSI driver node info: detected topology value collision: " +
      'driver reported "a.example/zone":"z1" but existing label is "a.example/zone":"other"',
  });
  await world.clock.advance(60_000);
  await refused;
  await rejects(manager.install({ ...DRIVER, nodeId: "" }), {
    message: "error adding CSI driver node info: driverNodeID must not be empty",
  });
});
