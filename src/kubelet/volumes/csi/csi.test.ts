import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { attachmentName } from "../../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import type { PersistentVolumeSpec } from "../../../api/generated/core/v1.ts";
import type { CSIDriver, CSIDriverSpec } from "../../../api/generated/storage.k8s.io/v1.ts";
import { encodeBase64Url } from "../../../api/machinery/codec/base64-url.ts";
import { CsiError } from "../../../csi/csi-error.ts";
import { MemoryCsiDriver } from "../testing/memory-csi-driver.ts";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld, type VolumeSourceFields } from "../testing/volume-world.ts";
import { csi } from "./csi.ts";

const TOKEN = `h.${encodeBase64Url(new TextEncoder().encode('{"exp":1800000000}'))}.s`;
const NEVER = new AbortController().signal;
const HANDLE = "vol-1";
const HANDLE_HASH = "d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49";
const ATTACHMENT = attachmentName({ handle: HANDLE, driver: "driver.example" }, "n1");

function csiDriver(spec: CSIDriverSpec): CSIDriver {
  return { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: "driver.example" }, spec };
}

function driverOf(world: VolumeWorld, spec: CSIDriverSpec = { attachRequired: false }): MemoryCsiDriver {
  const driver = new MemoryCsiDriver(world.mounter);
  world.csiNodeDrivers.set(driver.name, driver);
  world.csiDrivers.set(driver.name, csiDriver(spec));
  return driver;
}

function persistent(spec: Partial<PersistentVolumeSpec> = {}, fields: object = {}): VolumeSourceFields {
  const source = { driver: "driver.example", volumeHandle: HANDLE, ...fields };
  return { persistent: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi: source, ...spec } };
}

const inline: VolumeSourceFields = { csi: { driver: "driver.example", volumeAttributes: { size: "1" } } };

const NOT_REGISTERED =
  "kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name other not found in the list of registered CSI drivers";

volumeSuite({
  plugin: csi,
  source: persistent(),
  prepare: (world) => {
    driverOf(world, { attachRequired: false, requiresRepublish: true, tokenRequests: [{ audience: "a" }] });
    world.tokens.token = async () => TOKEN;
  },
  change: (world) => {
    world.tokens.token = async () => `${TOKEN}-renewed`;
  },
  invalid: [
    {
      source: { csi: { driver: "driver.example" } },
      message:
        "kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: " +
        'volume mode "Ephemeral" not supported by driver driver.example (only supports ["Persistent"])',
    },
    { source: { csi: { driver: "other" } }, message: NOT_REGISTERED },
    {
      source: persistent({}, { driver: "other" }),
      message:
        `volume ${HANDLE} has GET error for volume attachment ${attachmentName({ handle: HANDLE, driver: "other" }, "n1")}: ` +
        `volumeattachments.storage.k8s.io "${attachmentName({ handle: HANDLE, driver: "other" }, "n1")}" not found`,
    },
    {
      source: persistent({}, { nodePublishSecretRef: { name: "s", namespace: "kube-system" } }),
      message:
        "fetching NodePublishSecretRef kube-system/s failed: " +
        'kubernetes.io/csi: failed to find the secret s in the namespace kube-system with error: secrets "s" not found',
    },
  ],
});

describe("csi: what the driver is called with", () => {
  test("a persistent volume is staged once per node and published to the Pod, with upstream's paths", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world);
    world.secrets.set("s", { user: "u" });
    const refs = { nodeStageSecretRef: { name: "s", namespace: "ns" }, nodePublishSecretRef: { name: "s", namespace: "ns" } };

    const mounted = await world.mount(
      csi,
      persistent({ mountOptions: ["noatime"] }, { ...refs, fsType: "ext4", volumeAttributes: { a: "b" } }),
    );

    const capability = { accessMode: "SINGLE_NODE_WRITER", access: { fsType: "ext4", mountFlags: ["noatime"], volumeMountGroup: "" } };
    const staging = `/data/plugins/kubernetes.io/csi/driver.example/${HANDLE_HASH}/globalmount`;
    const common = { volumeId: HANDLE, publishContext: {}, secrets: { user: "u" }, volumeContext: { a: "b" }, capability };
    deepEqual(driver.staged, [{ ...common, stagingTargetPath: staging }]);
    const targetPath = "/data/pods/u/volumes/kubernetes.io~csi/pv/mount";
    deepEqual(driver.published, [{ ...common, stagingTargetPath: staging, targetPath, isReadOnly: false }]);
    deepEqual(mounted, { path: targetPath, isReadOnly: false, isExternal: false, isEphemeral: false });
    deepEqual(JSON.parse((await world.mounter.readText("/data/pods/u/volumes/kubernetes.io~csi/pv/vol_data.json")) ?? ""), {
      specVolID: "pv",
      volumeHandle: HANDLE,
      driverName: "driver.example",
      nodeName: "n1",
      attachmentID: ATTACHMENT,
      volumeLifecycleMode: "Persistent",
    });
  });

  test("a driver without STAGE_UNSTAGE_VOLUME is only published", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world);
    driver.capabilities.delete("STAGE_UNSTAGE_VOLUME");

    await world.mount(csi, persistent());
    await world.unmount(csi, persistent());

    deepEqual([driver.staged.length, driver.published[0]?.stagingTargetPath, world.mounter.mounts()], [0, "", []]);
    equal(
      world.mounter.lines().some((line) => line.includes("vol_data.json")),
      false,
    );
  });

  test("a block device is published as a file that the Pod's path links to", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world);

    const mounted = await world.mount(csi, persistent({ volumeMode: "Block" }));

    const targetPath = "/data/plugins/kubernetes.io/csi/volumeDevices/publish/pv/u";
    const staging = "/data/plugins/kubernetes.io/csi/volumeDevices/staging/pv";
    deepEqual(
      [driver.staged[0]?.stagingTargetPath, driver.published[0]?.targetPath, driver.published[0]?.capability.access],
      [staging, targetPath, "block"],
    );
    deepEqual(mounted, { path: targetPath, isReadOnly: false, isExternal: false, isEphemeral: false, isBlockDevice: true });
    await world.unmount(csi, persistent({ volumeMode: "Block" }));
    deepEqual(
      world.mounter.lines().filter((line) => /vol_data|publish\/|staging\//.test(line)),
      [],
    );
  });

  test("an inline volume gets a handle of its own and knows its Pod", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world, { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ["Ephemeral"] });
    world.spec = { serviceAccountName: "sa" };

    await world.mount(csi, inline);

    deepEqual(
      [driver.staged, driver.published[0]?.volumeContext],
      [
        [],
        {
          size: "1",
          "csi.storage.k8s.io/pod.name": "p",
          "csi.storage.k8s.io/pod.namespace": "ns",
          "csi.storage.k8s.io/pod.uid": "u",
          "csi.storage.k8s.io/serviceAccount.name": "sa",
          "csi.storage.k8s.io/ephemeral": "true",
        },
      ],
    );
    equal(driver.published[0]?.volumeId.startsWith("csi-"), true);
  });

  test("tokens of the Pod's service account are in the volume context, or in the secrets", async () => {
    const tokens = JSON.stringify({ vault: { token: TOKEN, expirationTimestamp: "2027-01-15T08:00:00Z" } });
    for (const serviceAccountTokenInSecrets of [false, true]) {
      const world = new VolumeWorld();
      world.tokens.token = async () => TOKEN;
      const driver = driverOf(world, { attachRequired: false, tokenRequests: [{ audience: "vault" }], serviceAccountTokenInSecrets });

      await world.mount(csi, persistent());

      const expected = { "csi.storage.k8s.io/serviceAccount.tokens": tokens };
      const [request] = driver.published;
      deepEqual([request?.volumeContext, request?.secrets], serviceAccountTokenInSecrets ? [{}, expected] : [expected, {}]);
    }
  });
});

describe("csi: attachment", () => {
  const volumeOf = (world: VolumeWorld) => world.volumeOf(csi, persistent());

  test("the volume waits for its VolumeAttachment and passes what the controller returned", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world, {});
    const attachment = { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name: ATTACHMENT } } as const;
    const spec = { attacher: "driver.example", nodeName: "n1", source: { persistentVolumeName: "pv" } };
    equal(await csi.staging?.isAttachable?.(volumeOf(world), world, NEVER), true);
    world.volumeAttachments.set(ATTACHMENT, { ...attachment, spec, status: { attached: false } });
    const message = `volume ${HANDLE} is not attached for volume attachment ${ATTACHMENT}`;
    await rejects(world.mount(csi, persistent()), { name: "NotAttachedError", message });
    world.volumeAttachments.set(ATTACHMENT, { ...attachment, spec, status: { attached: false, attachError: { message: "no slot" } } });
    await rejects(world.mount(csi, persistent()), { name: "VolumeError", message: "no slot" });
    world.volumeAttachments.set(ATTACHMENT, { ...attachment, spec, status: { attached: true, attachmentMetadata: { device: "sdb" } } });
    const unique = `kubernetes.io/csi/driver.example^${HANDLE}`;
    const unreported = { message: `Volume not attached according to node status for volume ${JSON.stringify(unique)}` };
    await rejects(world.mount(csi, persistent()), unreported, "the controller is about to detach it");
    world.node = { ...world.node, status: { volumesAttached: [{ name: unique, devicePath: "" }] } };

    await world.mount(csi, persistent());

    deepEqual([driver.staged[0]?.publishContext, driver.published[0]?.publishContext], [{ device: "sdb" }, { device: "sdb" }]);
  });

  test("a volume that exceeds the limit of the node waits, if the driver keeps its limit current", async () => {
    const world = new VolumeWorld();
    driverOf(world, { nodeAllocatableUpdatePeriodSeconds: 60 });
    const attachment = { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name: ATTACHMENT } } as const;
    const spec = { attacher: "driver.example", nodeName: "n1", source: { persistentVolumeName: "pv" } };
    const status = { attached: false, attachError: { message: "no slot", errorCode: 8 } };
    world.volumeAttachments.set(ATTACHMENT, { ...attachment, spec, status });

    await rejects(world.mount(csi, persistent()), { name: "NotAttachedError", message: "no slot", limitOf: "driver.example" });
  });

  test("a driver that needs no attachment, and an inline volume, are not attachable", async () => {
    const world = new VolumeWorld();
    driverOf(world);
    const isAttachable = (source: VolumeSourceFields) => csi.staging?.isAttachable?.(world.volumeOf(csi, source), world, NEVER);
    deepEqual([await isAttachable(persistent()), await isAttachable(inline)], [false, false]);
  });

  test("the name of a volume is upstream's", () => {
    equal(csi.staging?.volumeId(volumeOf(new VolumeWorld())), `kubernetes.io/csi/driver.example^${HANDLE}`);
  });
});

describe("csi: fsGroup", () => {
  const rows: readonly { title: string; spec?: CSIDriverSpec; source?: VolumeSourceFields; mountGroup?: true; says: string }[] = [
    { title: "the default policy needs a file system type", says: "-" },
    { title: "the default policy applies to ReadWriteOnce with a file system type", source: persistent({}, { fsType: "ext4" }), says: "7" },
    {
      title: "the default policy leaves shared volumes",
      source: persistent({ accessModes: ["ReadWriteMany"] }, { fsType: "ext4" }),
      says: "-",
    },
    { title: "policy None", spec: { fsGroupPolicy: "None" }, source: persistent({}, { fsType: "ext4" }), says: "-" },
    { title: "policy File", spec: { fsGroupPolicy: "File" }, says: "7" },
    { title: "a driver that does it itself", spec: { fsGroupPolicy: "File" }, mountGroup: true, says: "driver 7" },
  ];
  for (const { title, spec = {}, source = persistent(), mountGroup, says } of rows) {
    test(title, async () => {
      const world = new VolumeWorld();
      world.spec = { securityContext: { fsGroup: 7 } };
      const driver = driverOf(world, { attachRequired: false, ...spec });
      if (mountGroup === true) driver.capabilities.add("VOLUME_MOUNT_GROUP");

      await world.mount(csi, source);

      const { groupId = 0 } = (await world.mounter.rightsOf("/data/pods/u/volumes/kubernetes.io~csi/pv/mount")) ?? {};
      const { access } = driver.published[0]?.capability ?? { access: "block" };
      const byDriver = access === "block" ? "" : access.volumeMountGroup;
      equal(byDriver === "" ? String(groupId || "-") : `driver ${byDriver}`, says);
    });
  }
});

describe("csi: growth, usage and failures", () => {
  test("expand grows the volume to the capacity of its PersistentVolume", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world);
    await world.mount(csi, persistent());
    const volume = world.volumeOf(csi, persistent());
    const resolved = await csi.resolve(volume, world, NEVER);

    await csi.expand?.(volume, resolved, world);

    deepEqual([driver.expanded[0]?.capacity.requiredBytes, driver.expanded[0]?.volumePath], [2 ** 30, `${volume.path}/mount`]);
    driver.failure = new CsiError("INTERNAL", "disk is broken");
    const message = "Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = disk is broken";
    await rejects(csi.expand?.(volume, resolved, world) ?? Promise.resolve(), { message });
    driver.failure = new CsiError("OUT_OF_RANGE", "too large");
    const infeasible = "Expander.NodeExpand failed to expand the volume rpc error: code = OutOfRange desc = too large";
    await rejects(csi.expand?.(volume, resolved, world) ?? Promise.resolve(), { name: "InfeasibleVolumeError", message: infeasible });
  });

  test("usage is what the driver measures, with the condition if it monitors the volume", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world);
    const mounted = await world.mount(csi, persistent());
    driver.stats = {
      usage: [
        { unit: "BYTES", available: 1, total: 3, used: 2 },
        { unit: "INODES", available: 4, total: 9, used: 5 },
      ],
      condition: { isAbnormal: true, message: "slow" },
    };
    const filesystem = { availableBytes: 1, capacityBytes: 3, usedBytes: 2, inodes: 9, inodesFree: 4, inodesUsed: 5 };
    const usage = () => csi.usage?.(world.volumeOf(csi, persistent()), mounted, world);
    deepEqual(await usage(), { filesystem });
    driver.capabilities.add("VOLUME_CONDITION");
    deepEqual(await usage(), { filesystem, condition: { isAbnormal: true, message: "slow" } });
    driver.capabilities.delete("GET_VOLUME_STATS");
    equal(await usage(), undefined);
  });

  test("a volume is unmounted only by its driver: without it, or if it fails, the records stay", async () => {
    const world = new VolumeWorld();
    const driver = driverOf(world);
    await world.mount(csi, persistent());
    const lines = world.mounter.lines().filter((line) => line.includes("vol_data.json"));
    driver.failure = new CsiError("UNAVAILABLE", "gone");
    await rejects(world.unmount(csi, persistent()), {
      message: "kubernetes.io/csi: Unmounter.TearDownAt failed: rpc error: code = Unavailable desc = gone",
    });
    world.csiNodeDrivers.clear();
    await rejects(world.unmount(csi, persistent()), /driver name driver\.example not found in the list of registered CSI drivers/);
    deepEqual(
      world.mounter.lines().filter((line) => line.includes("vol_data.json")),
      lines,
    );
    driver.failure = undefined;
    world.csiNodeDrivers.set(driver.name, driver);

    await world.unmount(csi, persistent());

    deepEqual(world.mounter.mounts(), []);
  });
});
