import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import type { Client } from "../client/client.ts";
import { everyStepMayBeTheLast } from "../testing/every-step.ts";
import { given, type Given } from "../testing/given.ts";
import { rounds } from "../testing/rounds.ts";
import { localPathController } from "./local-path-controller.ts";
import { RefusedVolumeError, type LocalVolumes } from "./local-volumes.ts";
import { volumeNameOf } from "../api/local-path.ts";
import { simulatedVolumes } from "./simulated-volumes.ts";

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "node-0", labels: { "kubernetes.io/hostname": "host-0" } } };

function storageClass(extra: object = {}) {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "standard" },
    provisioner: "k8ts.dev/local-path",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
    ...extra,
  };
}

/** As the binder and the scheduler leave a claim for the provisioner. */
function claim(extra: { readonly spec?: object; readonly node?: string | null } = {}) {
  const { node = "node-0", spec = {} } = extra;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: "data",
      namespace: "default",
      annotations: {
        "volume.kubernetes.io/storage-provisioner": "k8ts.dev/local-path",
        ...(node === null ? {} : { "volume.kubernetes.io/selected-node": node }),
      },
    },
    spec: { storageClassName: "standard", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  };
}

/** Records what is done to the storage. */
function recordedVolumes(lines: string[], failing: Pick<Partial<LocalVolumes>, "create"> = {}) {
  const unconfirmed = new Set<string>();
  const short = (name: string): string => name.slice(0, 3);
  const volumes: LocalVolumes = {
    ...simulatedVolumes,
    async create(name, storage) {
      lines.push(`create ${short(name)} ${storage.is}`);
      unconfirmed.add(name);
    },
    async confirm(name) {
      if (unconfirmed.delete(name)) lines.push(`confirm ${short(name)}`);
    },
    grow: async (name, sizeBytes) => void lines.push(`grow ${short(name)} ${sizeBytes}`),
    async delete(name) {
      lines.push(`delete ${short(name)}`);
      unconfirmed.delete(name);
    },
    ...failing,
  };
  return { ...volumes, unconfirmed };
}

function controllerOf(volumes: LocalVolumes, refusesUnplaced = true) {
  return localPathController({ volumes, isOwnNode: (name) => name === "node-0", refusesUnplaced });
}

const KEY = { namespace: "default", name: "data" };

async function claimedVolume(cluster: Given): Promise<{ readonly claim: PersistentVolumeClaim; readonly name: string }> {
  const found = await cluster.client.get(persistentVolumeClaims, KEY);
  return { claim: found, name: volumeNameOf(found.metadata.uid ?? "") };
}

/** As the binder does. */
async function bind(client: Client): Promise<PersistentVolume> {
  const found = await client.get(persistentVolumeClaims, KEY);
  const name = volumeNameOf(found.metadata.uid ?? "");
  const volume = await client.get(persistentVolumes, { name });
  const bound = await client.update(persistentVolumeClaims, { ...found, spec: { ...found.spec, volumeName: name } });
  await client.updateStatus(persistentVolumeClaims, { ...bound, status: { phase: "Bound", capacity: volume.spec?.capacity ?? {} } });
  return client.updateStatus(persistentVolumes, { ...volume, status: { phase: "Bound" } });
}

async function release(client: Client): Promise<void> {
  const [volume] = (await client.list(persistentVolumes)).items;
  await client.delete(persistentVolumeClaims, KEY);
  await client.patch(persistentVolumeClaims, KEY, { type: "merge", value: { metadata: { finalizers: null } } }).catch(() => undefined);
  if (volume !== undefined) await client.updateStatus(persistentVolumes, { ...volume, status: { phase: "Released" } });
}

test("a claim that is placed on the node gets a directory and a PersistentVolume with the node's affinity", async () => {
  const lines: string[] = [];
  await using cluster = await given(NODE, storageClass(), claim());
  const { claim: stored, name } = await claimedVolume(cluster);

  await cluster.reconcile(controllerOf(recordedVolumes(lines)), name);

  const { metadata, spec } = await cluster.client.get(persistentVolumes, { name });
  assert.deepEqual(lines, ["create pvc directory", "confirm pvc"]);
  assert.deepEqual(metadata.annotations, {
    "k8ts.dev/local-path-node": "node-0",
    "pv.kubernetes.io/provisioned-by": "k8ts.dev/local-path",
  });
  assert(metadata.finalizers?.includes("k8ts.dev/local-path"));
  assert.deepEqual(spec, {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    volumeMode: "Filesystem",
    persistentVolumeReclaimPolicy: "Delete",
    storageClassName: "standard",
    local: { path: `/var/lib/k8ts/volumes/directories/${name}` },
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["host-0"] }] }] },
    },
    claimRef: {
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "default", name: "data" },
      ...{ uid: stored.metadata.uid, resourceVersion: stored.metadata.resourceVersion },
    },
  });
  assert.deepEqual(cluster.events, [
    'Normal Provisioning PersistentVolumeClaim/data External provisioner is provisioning volume for claim "default/data"',
    `Normal ProvisioningSucceeded PersistentVolumeClaim/data Successfully provisioned volume ${name}`,
  ]);
});

test("claims of other nodes, provisioners and classes, and bound or terminating ones, are left alone", async () => {
  const rows = [
    [claim({ node: "node-1" }), storageClass()],
    [claim({ spec: { volumeName: "mine" } }), storageClass()],
    [claim(), storageClass({ provisioner: "example.com/disk" })],
    [claim({ spec: { storageClassName: "missing" } }), storageClass()],
  ];
  for (const objects of rows) {
    const lines: string[] = [];
    await using cluster = await given(NODE, ...objects);
    const { name } = await claimedVolume(cluster);

    await cluster.reconcile(controllerOf(recordedVolumes(lines)), name);

    assert.deepEqual([lines, cluster.actions, cluster.events], [[], [], []]);
  }
});

test("a claim without a selected node is refused by one provisioner of the cluster", async () => {
  for (const refuses of [true, false]) {
    await using cluster = await given(NODE, storageClass({ volumeBindingMode: "Immediate" }), claim({ node: null }));
    const { name } = await claimedVolume(cluster);

    await cluster.reconcile(controllerOf(simulatedVolumes, refuses), name);

    const expected =
      'Warning ProvisioningFailed PersistentVolumeClaim/data failed to provision volume with StorageClass "standard": no node was selected: the class needs volumeBindingMode WaitForFirstConsumer';
    assert.deepEqual(cluster.events, refuses ? [expected] : []);
  }
});

test("a claim that waits for the scheduler to select a node is not refused", async () => {
  await using cluster = await given(NODE, storageClass(), claim({ node: null }));
  const { name } = await claimedVolume(cluster);

  await cluster.reconcile(controllerOf(simulatedVolumes), name);

  assert.deepEqual([cluster.actions, cluster.events], [[], []]);
});

test("a claim that this node cannot hold goes back to the scheduler, with the reason", async () => {
  const create = () => Promise.reject(new RefusedVolumeError("not enough space on the node"));
  await using cluster = await given(NODE, storageClass(), claim());
  const { name } = await claimedVolume(cluster);

  await cluster.reconcile(controllerOf(recordedVolumes([], { create })), name);

  const { metadata } = await cluster.client.get(persistentVolumeClaims, KEY);
  assert.equal(metadata.annotations?.["volume.kubernetes.io/selected-node"], undefined);
  assert.match(cluster.events.at(-1) ?? "", /^Warning ProvisioningFailed .* not enough space on the node$/);
});

test("a claim that no volume on a node can serve is refused and keeps its node", async () => {
  await using cluster = await given(NODE, storageClass(), claim({ spec: { accessModes: ["ReadWriteMany"] } }));
  const { name } = await claimedVolume(cluster);

  await cluster.reconcile(controllerOf(simulatedVolumes), name);

  assert.deepEqual(cluster.actions, []);
  assert.match(cluster.events.join(), /ProvisioningFailed .* access mode ReadWriteMany is not supported/);
});

test("a released volume with policy Delete is removed with its content, one with Retain is kept", async () => {
  for (const reclaimPolicy of ["Delete", "Retain"]) {
    const lines: string[] = [];
    await using cluster = await given(NODE, storageClass({ reclaimPolicy }), claim());
    const controller = controllerOf(recordedVolumes(lines));
    const { name } = await claimedVolume(cluster);
    await cluster.reconcile(controller, name);
    await bind(cluster.client);
    await cluster.reconcile(controller, name);
    assert.deepEqual(lines.splice(0), ["create pvc directory", "confirm pvc"]);

    await release(cluster.client);
    await cluster.reconcile(controller, name);

    const left = (await cluster.list(persistentVolumes)).map(({ metadata }) => metadata.name);
    assert.deepEqual([lines, left], reclaimPolicy === "Delete" ? [["delete pvc"], []] : [[], [name]]);
  }
});

test("a kept volume that the user deletes is released without its content being removed", async () => {
  const lines: string[] = [];
  await using cluster = await given(NODE, storageClass({ reclaimPolicy: "Retain" }), claim());
  const controller = controllerOf(recordedVolumes(lines));
  const { name } = await claimedVolume(cluster);
  await cluster.reconcile(controller, name);
  await bind(cluster.client);
  await release(cluster.client);
  lines.length = 0;

  await cluster.client.delete(persistentVolumes, { name });
  await cluster.reconcile(controller, name);

  assert.deepEqual([await cluster.list(persistentVolumes), lines], [[], []]);
});

test("a volume whose claim still exists is never removed, whatever its phase says", async () => {
  const lines: string[] = [];
  await using cluster = await given(NODE, storageClass(), claim());
  const controller = controllerOf(recordedVolumes(lines));
  const { name } = await claimedVolume(cluster);
  await cluster.reconcile(controller, name);
  const volume = await bind(cluster.client);
  lines.length = 0;

  await cluster.client.updateStatus(persistentVolumes, { ...volume, status: { phase: "Released" } });
  await cluster.reconcile(controller, name);

  assert.deepEqual(lines, []);
});

test("the files of a volume with a foreign path or name are never removed", async () => {
  const lines: string[] = [];
  await using cluster = await given(NODE, storageClass(), claim());
  const { name } = await claimedVolume(cluster);
  await cluster.reconcile(controllerOf(recordedVolumes([])), name);
  const made = await cluster.client.get(persistentVolumes, { name });
  const forged = [
    { name: "pvc-00000000-0000-0000-0000-000000000000", path: "/etc" },
    { name: "etc", path: "/var/lib/k8ts/volumes/directories/etc" },
  ];
  for (const { name: forgedName, path } of forged) {
    const { annotations = {} } = made.metadata;
    const spec = { ...made.spec, local: { path }, claimRef: undefined };
    const draft = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: forgedName, annotations }, spec } as never;
    const created = await cluster.client.create(persistentVolumes, draft);
    await cluster.client.updateStatus(persistentVolumes, { ...created, status: { phase: "Released" } });

    await cluster.reconcile(controllerOf(recordedVolumes(lines)), forgedName);

    assert.deepEqual(lines, []);
    assert.match(cluster.events.at(-1) ?? "", /^Warning VolumeFailedDelete .* was not created by this provisioner/);
  }
});

test("a claim that asks for more grows an image for the kubelet, and a directory at once", async () => {
  const rows = [
    { parameters: { quota: "true" }, grown: [`grow pvc ${2 * 2 ** 30}`], capacity: "1Gi", state: { storage: "NodeResizePending" } },
    { parameters: {}, grown: [], capacity: "2Gi", state: undefined },
  ];
  for (const { parameters, grown, capacity, state } of rows) {
    const lines: string[] = [];
    await using cluster = await given(NODE, storageClass({ parameters }), claim());
    const controller = controllerOf(recordedVolumes(lines));
    const { name } = await claimedVolume(cluster);
    await cluster.reconcile(controller, name);
    await bind(cluster.client);
    lines.length = 0;

    const value = { spec: { resources: { requests: { storage: "2Gi" } } } };
    await cluster.client.patch(persistentVolumeClaims, KEY, { type: "merge", value });
    await cluster.reconcile(controller, name);
    await cluster.reconcile(controller, name);

    const { spec } = await cluster.client.get(persistentVolumes, { name });
    const { status } = await cluster.client.get(persistentVolumeClaims, KEY);
    assert.deepEqual(
      [lines, spec?.capacity, status?.capacity, status?.allocatedResourceStatuses],
      [grown, { storage: "2Gi" }, { storage: capacity }, state],
    );
    assert.deepEqual(
      status?.conditions?.map(({ type }) => type),
      state === undefined ? undefined : ["FileSystemResizePending"],
    );
  }
});

test("growth for which the node has no space is reported in the claim's status, and tried again later or with another size", async () => {
  const lines: string[] = [];
  await using cluster = await given(NODE, storageClass({ parameters: { quota: "true" } }), claim());
  const grow = async (_name: string, sizeBytes: number) => {
    lines.push(`grow ${sizeBytes / 2 ** 30}Gi`);
    if (sizeBytes > 4 * 2 ** 30) throw new RefusedVolumeError("not enough space on the node");
  };
  const controller = controllerOf({ ...recordedVolumes([]), grow });
  const { name } = await claimedVolume(cluster);
  await cluster.reconcile(controller, name);
  await bind(cluster.client);
  const request = (storage: string) =>
    cluster.client.patch(persistentVolumeClaims, KEY, { type: "merge", value: { spec: { resources: { requests: { storage } } } } });
  await request("9Gi");
  await cluster.settled();
  const outcomes = [await cluster.reconcile(controller, name)];
  await cluster.settled();
  const { status } = await cluster.client.get(persistentVolumeClaims, KEY);
  assert.deepEqual(
    status?.conditions?.map(({ type, message }) => [type, message]),
    [
      ["Resizing", undefined],
      ["ControllerResizeError", "failed to expand pvc with not enough space on the node"],
    ],
  );
  assert.deepEqual(
    [status?.allocatedResourceStatuses, status?.allocatedResources, status?.capacity],
    [{ storage: "ControllerResizeInfeasible" }, { storage: "9Gi" }, { storage: "1Gi" }],
  );
  assert.equal(
    cluster.events.at(-1),
    `Warning VolumeResizeFailed PersistentVolumeClaim/data resize volume "${name}" by resizer "k8ts.dev/local-path" failed: not enough space on the node`,
  );
  outcomes.push(await cluster.reconcile(controller, name));
  assert.deepEqual(
    outcomes.map(({ again }) => again),
    ["after", "after"],
  );
  await cluster.clock.advance(60_000);
  await cluster.reconcile(controller, name);

  await request("3Gi");
  await cluster.settled();
  await cluster.reconcile(controller, name);

  assert.deepEqual(lines, ["grow 9Gi", "grow 9Gi", "grow 3Gi"]);
  const { status: after } = await cluster.client.get(persistentVolumeClaims, KEY);
  assert.deepEqual(after?.allocatedResourceStatuses, { storage: "NodeResizePending" });
  assert.deepEqual(
    after?.conditions?.map(({ type }) => type),
    ["Resizing", "FileSystemResizePending"],
  );
});

test("a running provisioner that cannot grow a volume retries with backoff, not at once for its own report", async () => {
  const tries: number[] = [];
  await using cluster = await given(NODE, storageClass({ parameters: { quota: "true" } }), claim());
  const grow = async () => {
    tries.push(cluster.clock.now());
    throw new Error(`losetup failed, attempt ${tries.length}`);
  };
  const running = await cluster.run(controllerOf({ ...recordedVolumes([]), grow }));
  await cluster.settled();
  await bind(cluster.client);
  const value = { spec: { resources: { requests: { storage: "9Gi" } } } };
  await cluster.client.patch(persistentVolumeClaims, KEY, { type: "merge", value });
  await cluster.clock.advance(10_000);
  await running[Symbol.asyncDispose]();
  // 5 ms, doubled each time.
  assert.ok(tries.length > 5 && tries.length < 20, `${tries.length} attempts in 10 s`);
});

test("storage without a PersistentVolume is removed when its claim is gone, and kept while the claim exists", async () => {
  const lines: string[] = [];
  const volumes = recordedVolumes(lines);
  await using cluster = await given(NODE, storageClass(), claim({ node: "node-1" }));
  const { name } = await claimedVolume(cluster);
  const orphan = "pvc-00000000-0000-0000-0000-000000000001";
  volumes.unconfirmed.add(name).add(orphan);

  await cluster.reconcile(controllerOf(volumes), name);
  await cluster.reconcile(controllerOf(volumes), orphan);

  assert.deepEqual([lines, [...volumes.unconfirmed]], [["delete pvc"], [name]]);
});

test("storage of an interrupted attempt is removed when another node has the volume", async () => {
  const lines: string[] = [];
  const volumes = recordedVolumes(lines);
  await using cluster = await given(NODE, storageClass(), claim());
  const { name } = await claimedVolume(cluster);
  const elsewhere = localPathController({ volumes: simulatedVolumes, isOwnNode: () => true, refusesUnplaced: false });
  await cluster.reconcile(elsewhere, name);
  const { metadata } = await cluster.client.get(persistentVolumes, { name });
  const annotations = { ...metadata.annotations, "k8ts.dev/local-path-node": "node-1" };
  await cluster.client.patch(persistentVolumes, { name }, { type: "merge", value: { metadata: { annotations } } });
  volumes.unconfirmed.add(name);

  await cluster.reconcile(controllerOf(volumes), name);
  await cluster.reconcile(controllerOf(volumes), name);

  assert.deepEqual(lines, ["delete pvc"]);
});

test("a crash at any step of provisioning, growing and reclaiming does not change the final state", () => {
  // The storage outlives the process.
  let volumes = recordedVolumes([]);
  return everyStepMayBeTheLast(
    {
      get objects() {
        volumes = recordedVolumes([]);
        return [NODE, storageClass({ parameters: { quota: "true" } }), claim()];
      },
      controllers: () => [controllerOf(volumes)],
      restMs: 20_000,
      steps: [
        async ({ client }) => void (await bind(client)),
        async ({ client }) => {
          const value = { spec: { resources: { requests: { storage: "2Gi" } } } };
          await client.patch(persistentVolumeClaims, KEY, { type: "merge", value });
        },
        ({ client }) => release(client),
      ],
    },
    { deathsMax: rounds({ quick: 10, full: 1_000 }), disturbedRuns: rounds({ quick: 2, full: 50 }) },
  );
});
