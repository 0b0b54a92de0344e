import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { volumeNameOf } from "../../api/local-path.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import type { Client } from "../../client/client.ts";
import { everyStepMayBeTheLast, type ScenarioCluster } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { CsiError } from "../csi-error.ts";
import { attacherController } from "./attacher-controller.ts";
import { provisionerController } from "./provisioner-controller.ts";
import { resizerController } from "./resizer-controller.ts";
import { MemoryControllerDriver } from "./testing/memory-controller-driver.ts";

const DRIVER = "driver.example";
const KEY = { namespace: "default", name: "data" };

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { "driver.example/zone": "z1" } } };
const CSI_NODE = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: { name: "n1" },
  spec: { drivers: [{ name: DRIVER, nodeID: "node-id-1", topologyKeys: ["driver.example/zone"] }] },
};

function storageClass(extra: object = {}) {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast", annotations: { "k8ts.dev/builtin-sidecars": "true" } },
    provisioner: DRIVER,
    allowVolumeExpansion: true,
    parameters: { tier: "ssd", "csi.storage.k8s.io/fstype": "ext4" },
    ...extra,
  };
}

/** As the binder, and with a node the scheduler, leave it. */
function claim(node?: string) {
  const annotations = {
    "volume.kubernetes.io/storage-provisioner": DRIVER,
    ...(node === undefined ? {} : { "volume.kubernetes.io/selected-node": node }),
  };
  const spec = { storageClassName: "fast", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { ...KEY, annotations }, spec };
}

async function volumeName({ client }: Pick<Given, "client">): Promise<string> {
  return volumeNameOf((await client.get(persistentVolumeClaims, KEY)).metadata.uid ?? "");
}

/** As the binder does. */
async function bind(client: Client): Promise<void> {
  const name = await volumeName({ client });
  const found = await client.get(persistentVolumeClaims, KEY);
  const bound = await client.update(persistentVolumeClaims, { ...found, spec: { ...found.spec, volumeName: name } });
  await client.updateStatus(persistentVolumeClaims, { ...bound, status: { phase: "Bound", capacity: { storage: "1Gi" } } });
  const volume = await client.get(persistentVolumes, { name });
  await client.updateStatus(persistentVolumes, { ...volume, status: { phase: "Bound" } });
}

async function attachTo(client: Client): Promise<void> {
  const source = { persistentVolumeName: await volumeName({ client }) };
  const spec = { attacher: DRIVER, nodeName: "n1", source };
  await client.create(volumeAttachments, { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name: "va" }, spec });
}

async function request(client: Client, storage: string): Promise<void> {
  await client.patch(persistentVolumeClaims, KEY, { type: "merge", value: { spec: { resources: { requests: { storage } } } } });
}

async function release(client: Client): Promise<void> {
  const [volume] = (await client.list(persistentVolumes)).items;
  await client.delete(persistentVolumeClaims, KEY);
  await client.patch(persistentVolumeClaims, KEY, { type: "merge", value: { metadata: { finalizers: null } } }).catch(() => undefined);
  if (volume !== undefined) await client.updateStatus(persistentVolumes, { ...volume, status: { phase: "Released" } });
}

test("a claim of a class with built-in sidecars gets a volume of the driver, with its topology", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  driver.pluginCapabilities.add("VOLUME_ACCESSIBILITY_CONSTRAINTS");
  driver.topology = [{ "driver.example/zone": "z1" }];
  await using cluster = await given(NODE, CSI_NODE, storageClass({ volumeBindingMode: "WaitForFirstConsumer" }), claim("n1"));
  const name = await volumeName(cluster);

  await cluster.reconcile(provisionerController(driver), name);

  const zone = { "driver.example/zone": "z1" };
  deepEqual(driver.created, [
    {
      name,
      capacity: { requiredBytes: 2 ** 30, limitBytes: 0 },
      capabilities: [{ accessMode: "SINGLE_NODE_WRITER", access: { fsType: "ext4", mountFlags: [], volumeMountGroup: "" } }],
      parameters: { tier: "ssd" },
      secrets: {},
      accessibility: { requisite: [zone], preferred: [zone] },
      mutableParameters: {},
    },
  ]);
  const { spec, metadata } = await cluster.client.get(persistentVolumes, { name });
  deepEqual(spec?.csi, { driver: DRIVER, volumeHandle: `id-${name}`, fsType: "ext4", volumeAttributes: { made: "yes" } });
  deepEqual(spec?.nodeAffinity?.required?.nodeSelectorTerms, [
    { matchExpressions: [{ key: "driver.example/zone", operator: "In", values: ["z1"] }] },
  ]);
  equal(metadata.annotations?.["pv.kubernetes.io/provisioned-by"], DRIVER);
  deepEqual(cluster.events, [
    'Normal Provisioning PersistentVolumeClaim/data External provisioner is provisioning volume for claim "default/data"',
    `Normal ProvisioningSucceeded PersistentVolumeClaim/data Successfully provisioned volume ${name}`,
  ]);
});

test("a claim is provisioned by the instance of the driver on the selected node, and deleted by the one that has access", async () => {
  const second = { ...NODE, metadata: { name: "n2", labels: { "driver.example/zone": "z2" } } };
  const driver = new MemoryControllerDriver(DRIVER);
  driver.pluginCapabilities.add("VOLUME_ACCESSIBILITY_CONSTRAINTS");
  driver.topology = [{ "driver.example/zone": "z2" }];
  const objects = [NODE, CSI_NODE, second, { ...CSI_NODE, metadata: { name: "n2" } }];
  await using cluster = await given(...objects, storageClass({ volumeBindingMode: "WaitForFirstConsumer" }), claim("n2"));
  const name = await volumeName(cluster);
  await cluster.reconcile(provisionerController(driver), name);
  await release(cluster.client);

  await cluster.reconcile(provisionerController(driver), name);

  deepEqual([driver.calledOn, driver.state()], [["n2", "n2"], []]);
});

test("claims of other classes, without a selected node, or of a driver that is not here, are left alone", async () => {
  const rows = [
    [storageClass({ metadata: { name: "fast" } }), claim()],
    [storageClass({ volumeBindingMode: "WaitForFirstConsumer" }), claim()],
    [storageClass({ provisioner: "other.example" }), claim()],
  ];
  for (const objects of rows) {
    const driver = new MemoryControllerDriver(DRIVER);
    await using cluster = await given(NODE, CSI_NODE, ...objects);

    await cluster.reconcile(provisionerController(driver), await volumeName(cluster));

    deepEqual([driver.state(), cluster.actions], [[], []]);
  }
});

test("a node without room gives the claim back to the scheduler; other failures are reported and retried", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  await using cluster = await given(NODE, CSI_NODE, storageClass(), claim("n1"));
  const name = await volumeName(cluster);
  driver.failure = new CsiError("INTERNAL", "broken");
  await rejects(cluster.reconcile(provisionerController(driver), name), /broken/);
  driver.failure = new CsiError("RESOURCE_EXHAUSTED", "full");

  await cluster.reconcile(provisionerController(driver), name);

  const { annotations } = (await cluster.client.get(persistentVolumeClaims, KEY)).metadata;
  equal(annotations?.["volume.kubernetes.io/selected-node"], undefined);
  equal(
    cluster.events.at(-1),
    'Warning ProvisioningFailed PersistentVolumeClaim/data failed to provision volume with StorageClass "fast": ' +
      "rpc error: code = ResourceExhausted desc = full",
  );
});

test("a VolumeAttachment is attached by the driver, reports its failures, and is held until it is detached", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  await using cluster = await given(NODE, CSI_NODE, storageClass(), claim());
  const name = await volumeName(cluster);
  await cluster.reconcile(provisionerController(driver), name);
  await attachTo(cluster.client);
  driver.failure = new CsiError("RESOURCE_EXHAUSTED", "no slot");
  await rejects(cluster.reconcile(attacherController(driver), "va"), /no slot/);
  const attachment = () => cluster.client.get(volumeAttachments, { name: "va" });
  const { message, errorCode } = (await attachment()).status?.attachError ?? {};
  deepEqual([message, errorCode], ["rpc error: code = ResourceExhausted desc = no slot", 8]);

  await cluster.settled();
  await cluster.reconcile(attacherController(driver), "va");

  const { metadata, status } = await attachment();
  deepEqual(
    [status, metadata.finalizers],
    [{ attached: true, attachmentMetadata: { device: "sdb" } }, ["external-attacher/driver.example"]],
  );
  deepEqual(driver.state(), [`id-${name} 1073741824 node-id-1`]);
  await cluster.client.delete(volumeAttachments, { name: "va" });
  await cluster.settled();
  await cluster.reconcile(attacherController(driver), "va");
  deepEqual([driver.state(), await cluster.list(volumeAttachments)], [[`id-${name} 1073741824`], []]);
});

test("a driver without ControllerPublishVolume has its VolumeAttachments marked as attached", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  driver.capabilities.delete("PUBLISH_UNPUBLISH_VOLUME");
  await using cluster = await given(NODE, CSI_NODE, storageClass(), claim());
  await cluster.reconcile(provisionerController(driver), await volumeName(cluster));
  await attachTo(cluster.client);

  await cluster.reconcile(attacherController(driver), "va");

  deepEqual((await cluster.client.get(volumeAttachments, { name: "va" })).status, { attached: true });
});

for (const nodeExpansionRequired of [true, false]) {
  test(`a claim that asks for more is expanded${nodeExpansionRequired ? ", and the kubelet is asked to grow the file system" : ""}`, async () => {
    const driver = new MemoryControllerDriver(DRIVER);
    driver.nodeExpansionRequired = nodeExpansionRequired;
    await using cluster = await given(NODE, CSI_NODE, storageClass(), claim());
    const name = await volumeName(cluster);
    await cluster.reconcile(provisionerController(driver), name);
    await bind(cluster.client);
    await request(cluster.client, "2Gi");
    await cluster.settled();

    await cluster.reconcile(resizerController(driver), "default/data");

    const { status } = await cluster.client.get(persistentVolumeClaims, KEY);
    const states = [
      status?.capacity?.["storage"],
      status?.allocatedResourceStatuses?.["storage"],
      status?.conditions?.map(({ type }) => type).join(),
    ];
    deepEqual(
      states,
      nodeExpansionRequired ? ["1Gi", "NodeResizePending", "Resizing,FileSystemResizePending"] : ["2Gi", undefined, undefined],
    );
    deepEqual(driver.state(), [`id-${name} 2147483648`]);
    equal((await cluster.client.get(persistentVolumes, { name })).spec?.capacity?.["storage"], "2Gi");
  });
}

interface ResizeRow {
  readonly title: string;
  /** Sizes that are requested, each with the failure of the call that follows. */
  readonly requests: readonly (readonly [size: string, failure?: CsiError])[];
  /** Phase, tried size, conditions. */
  readonly phase: string;
  readonly tried: string;
  readonly conditions: readonly string[];
  /** Whether the last size is requested from the driver at once. */
  readonly isRetried: boolean;
  readonly bytes: number;
}

const GI = 2 ** 30;

for (const row of [
  {
    title: "an error that is final is a condition",
    requests: [["2Gi", new CsiError("INTERNAL", "broken")]],
    ...{ phase: "ControllerResizeInProgress", tried: "2Gi", isRetried: true, bytes: 2 * GI },
    conditions: ["Resizing", "ControllerResizeError: failed to expand pvc with rpc error: code = Internal desc = broken"],
  },
  {
    title: "an error that is uncertain is none, and the size is completed before another one",
    requests: [
      ["2Gi", new CsiError("UNAVAILABLE", "lost")],
      ["3Gi", new CsiError("UNAVAILABLE", "lost")],
    ],
    ...{ phase: "ControllerResizeInProgress", tried: "2Gi", isRetried: true, bytes: 2 * GI, conditions: ["Resizing"] },
  },
  {
    title: "a size that is not possible is not requested again soon",
    requests: [["2000Gi", new CsiError("OUT_OF_RANGE", "too large")]],
    ...{ phase: "ControllerResizeInfeasible", tried: "2000Gi", isRetried: false, bytes: GI },
    conditions: ["Resizing", "ControllerResizeError: failed to expand pvc with rpc error: code = OutOfRange desc = too large"],
  },
  {
    title: "a smaller size is requested at once after one that was not possible",
    requests: [["2000Gi", new CsiError("OUT_OF_RANGE", "too large")], ["2Gi"]],
    ...{ phase: "NodeResizePending", tried: "2Gi", isRetried: false, bytes: 2 * GI, conditions: ["Resizing", "FileSystemResizePending"] },
  },
] as const satisfies readonly ResizeRow[]) {
  test(`the resizer reports failures as the official one: ${row.title}`, async () => {
    const driver = new MemoryControllerDriver(DRIVER);
    await using cluster = await given(NODE, CSI_NODE, storageClass(), claim());
    const name = await volumeName(cluster);
    await cluster.reconcile(provisionerController(driver), name);
    await bind(cluster.client);
    const resize = () => cluster.reconcile(resizerController(driver), "default/data").catch(() => undefined);
    for (const [size, failure] of row.requests) {
      await request(cluster.client, size);
      await cluster.settled();
      driver.failure = failure;
      await resize();
      await cluster.settled();
    }

    const { status } = await cluster.client.get(persistentVolumeClaims, KEY);
    deepEqual([status?.allocatedResourceStatuses, status?.allocatedResources], [{ storage: row.phase }, { storage: row.tried }]);
    const conditions = status?.conditions?.map(({ type, message }) => (type === "ControllerResizeError" ? `${type}: ${message}` : type));
    deepEqual(conditions, row.conditions);
    const events = cluster.events.filter((line) => line.includes(" Resizing ")).length;
    await resize();
    deepEqual(driver.state(), [`id-${name} ${row.bytes}`]);
    equal(cluster.events.filter((line) => line.includes(" Resizing ")).length > events, row.isRetried);
  });
}

test("a driver that cannot grow a volume in use is not called again before the last Pod has ended, and then at once", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  const spec = { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] };
  const users = ["a", "b"].map((name) => buildPod({ metadata: { namespace: "default", name }, spec }));
  await using cluster = await given(NODE, CSI_NODE, storageClass(), claim(), ...users);
  const name = await volumeName(cluster);
  await cluster.reconcile(provisionerController(driver), name);
  await bind(cluster.client);
  driver.failure = new CsiError("FAILED_PRECONDITION", "volume is in use");
  await request(cluster.client, "2Gi");
  await cluster.settled();
  await cluster.run(resizerController(driver));
  await cluster.settled();

  driver.failure = undefined;
  await cluster.client.patch(persistentVolumeClaims, KEY, { type: "merge", value: { metadata: { labels: { a: "b" } } } });
  await cluster.client.delete(pods, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
  await cluster.clock.advance(3_600_000);
  const meanwhile = driver.state();
  const last = await cluster.client.get(pods, { namespace: "default", name: "b" });
  await cluster.client.updateStatus(pods, { ...last, status: { ...last.status, phase: "Succeeded" } });
  await cluster.settled();

  deepEqual([meanwhile, driver.state()], [[`id-${name} ${GI}`], [`id-${name} ${2 * GI}`]]);
  const reason =
    "Unable to expand default/data because CSI driver driver.example only supports offline expansion and volume is currently in-use";
  equal(cluster.events.includes(`Warning VolumeResizeFailed PersistentVolumeClaim/data ${reason}`), true);
});

test("growth that the node calls impossible is given to the node again, since it waits for the controller", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  await using cluster = await given(NODE, CSI_NODE, storageClass(), claim());
  await cluster.reconcile(provisionerController(driver), await volumeName(cluster));
  await bind(cluster.client);
  await request(cluster.client, "2Gi");
  await cluster.settled();
  await cluster.reconcile(resizerController(driver), "default/data");
  const asked = await cluster.client.get(persistentVolumeClaims, KEY);
  const status = { ...asked.status, allocatedResourceStatuses: { storage: "NodeResizeInfeasible" as const } };
  await cluster.client.updateStatus(persistentVolumeClaims, { ...asked, status });
  await cluster.settled();

  await cluster.reconcile(resizerController(driver), "default/data");

  const { status: after } = await cluster.client.get(persistentVolumeClaims, KEY);
  deepEqual(after?.allocatedResourceStatuses, { storage: "NodeResizePending" });
});

test("the built-in sidecars may be killed after any call: the volume is created, attached, grown, detached and deleted once", async () => {
  const driver = new MemoryControllerDriver(DRIVER);
  const scenario = {
    objects: [NODE, CSI_NODE, storageClass(), claim()],
    controllers: () => [provisionerController(driver), attacherController(driver), resizerController(driver)],
    steps: [
      ({ client }: ScenarioCluster) => bind(client),
      ({ client }: ScenarioCluster) => attachTo(client),
      ({ client }: ScenarioCluster) => request(client, "2Gi"),
      async ({ client }: ScenarioCluster) => void (await client.delete(volumeAttachments, { name: "va" })),
      ({ client }: ScenarioCluster) => release(client),
    ],
    restMs: 30_000,
  };
  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 8, full: 1_000 }), disturbedRuns: rounds({ quick: 2, full: 50 }) });
  deepEqual(driver.state(), []);
});
