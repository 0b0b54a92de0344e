/** Every call of a CSI driver may fail, lose its answer or hang, and the kubelet may be killed after it: the end state is the same. */
import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { CSIDriver } from "../../../api/generated/storage.k8s.io/v1.ts";
import { buildPod } from "../../../api/testing/pod.ts";
import { createLogger } from "../../../base/logger.ts";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { detachLoopDevice, loopDevicesUnder } from "../../../host/kernel/loop-devices.ts";
import { mountsUnder } from "../../../host/kernel/mount-table.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import { realClock } from "../../../host/real-clock.ts";
import { becomes } from "../../../testing/becomes.ts";
import { CsiTestDriver } from "../../../testing/csi/csi-test-driver.ts";
import { CSI_FAULTS, type CsiFault } from "../../../testing/csi/driver-faults.ts";
import type { VolumeKind } from "../../../testing/csi/driver-volumes.ts";
import { needs } from "../../../testing/needs.ts";
import type { PodVolumes } from "../../contracts/pod-volumes.ts";
import { startPodVolumes } from "../volumes/pod-volumes-on-disk.ts";
import { CsiDrivers } from "./csi-drivers.ts";

const ANY = new AbortController().signal;
const NAME = "test.csi.k8ts.dev";
/** Deadline of a call, which no call reaches that does not hang. */
const TIMEOUT_MS = 100_000;
/** Deadline where a call hangs and takes as long; others that take longer are repeated, as on any slow node. */
const HANGING_TIMEOUT_MS = 2_000;
/** Attempts per operation: one fails by the test, others by a slow machine. */
const ATTEMPTS_MAX = 50;

/** Loop-mounted where the machine can. */
const FILE_SYSTEM = needs("loop").skip === false ? "ext4" : "directory";

interface Scene extends AsyncDisposable {
  readonly root: string;
  readonly driver: CsiTestDriver;
  volumes: PodVolumes;
  /** As it is now. */
  claim(): PersistentVolumeClaim;
  /** Simulates a kill: new instances on the same disk, and the driver registers again. */
  restart(): Promise<void>;
}

const claim: PersistentVolumeClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", namespace: "ns", uid: "claim" },
  spec: { volumeName: "pv" },
  status: { phase: "Bound" },
};

/** As the resizer leaves it. */
const enlargedClaim: PersistentVolumeClaim = {
  ...claim,
  spec: { volumeName: "pv", resources: { requests: { storage: "400Mi" } } },
  status: {
    phase: "Bound",
    capacity: { storage: "300Mi" },
    allocatedResources: { storage: "400Mi" },
    allocatedResourceStatuses: { storage: "NodeResizePending" },
  },
};

function persistentVolume(isBlock: boolean): PersistentVolume {
  const csi = { driver: NAME, volumeHandle: "vol-1" };
  const capacity = { storage: "400Mi" };
  const spec = {
    claimRef: { uid: "claim" },
    capacity,
    accessModes: ["ReadWriteOnce"],
    volumeMode: isBlock ? "Block" : "Filesystem",
    csi,
  } as const;
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv" }, spec };
}

const ENLARGED_BYTES = 400 * 2 ** 20;

const csiDriver: CSIDriver = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: NAME },
  spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ["Persistent", "Ephemeral"] },
};

interface SceneOptions {
  readonly kind?: VolumeKind;
  readonly isEnlarged?: boolean;
  readonly hangs?: boolean;
}

async function startScene({ kind = FILE_SYSTEM, isEnlarged = false, hangs = false }: SceneOptions = {}): Promise<Scene> {
  const directory = await makeTemporaryDirectory("k8ts-csi-");
  const base = await realpath(directory.path);
  const root = join(base, "kubelet");
  await mkdir(root);
  const socket = join(base, "csi.sock");
  const driver = await CsiTestDriver.start({
    directory: join(base, "driver"),
    socket,
    name: NAME,
    nodeId: "id-1",
    fileSystem: FILE_SYSTEM,
  });
  await driver.addVolume("vol-1", { kind });
  if (isEnlarged) await driver.enlarge("vol-1", ENLARGED_BYTES);
  const log = createLogger({ clock: realClock, level: "error", sink: () => {} });
  const silent = { listen: () => ({ [Symbol.dispose]: () => {} }) };
  let current = isEnlarged ? enlargedClaim : claim;
  const start = async () => {
    const csiNode = { install: async () => {}, update: async () => {}, uninstall: async () => {} };
    const drivers = new CsiDrivers({
      rootDirectory: root,
      csiNode,
      clock: realClock,
      log,
      timeoutMs: hangs ? HANGING_TIMEOUT_MS : TIMEOUT_MS,
    });
    const plugin = { name: NAME, endpoint: socket, usesDefaultRoot: false, supportedVersions: ["1.0.0"] };
    await attempted(() => drivers.register(plugin, ANY));
    const volumes = await startPodVolumes({
      ...{ rootDirectory: root, nodeName: "n1", clock: realClock, log },
      csi: { driver: (name) => drivers.driver(name), listenToRepublish: silent.listen, limitReached: () => {} },
      references: {
        ...silent,
        configMap: async () => undefined,
        secret: async () => undefined,
        persistentVolumeClaim: async () => current,
        persistentVolume: async () => persistentVolume(kind === "block"),
        csiDriver: async () => csiDriver,
        volumeAttachment: async () => undefined,
        node: async () => undefined,
        trustBundles: async () => [],
      },
      tokens: { ...silent, token: async () => "", forget: () => {} },
      claims: { writeStatus: async (changed) => (current = changed), record: () => {} },
      nodeAllocatable: () => ({ memory: "64Mi" }),
    });
    return { volumes, drivers };
  };
  let running = await start();
  const scene: Scene = {
    root,
    driver,
    volumes: running.volumes,
    claim: () => current,
    async restart() {
      await running.volumes[Symbol.asyncDispose]();
      running.drivers[Symbol.dispose]();
      running = await start();
      scene.volumes = running.volumes;
    },
    async [Symbol.asyncDispose]() {
      await running.volumes[Symbol.asyncDispose]();
      running.drivers[Symbol.dispose]();
      await driver[Symbol.asyncDispose]();
      await unmountUnder(base);
      // Of tests that end with a mounted volume.
      for (const { device } of await loopDevicesUnder(base)) await detachLoopDevice(device);
      await directory[Symbol.asyncDispose]();
    },
  };
  return scene;
}

function aPod(uid: string, { isBlock = false, isInline = false } = {}): Pod {
  const use = isBlock ? { volumeDevices: [{ name: "v", devicePath: "/dev/v" }] } : { volumeMounts: [{ name: "v", mountPath: "/v" }] };
  const volume = isInline ? { csi: { driver: NAME } } : { persistentVolumeClaim: { claimName: "c" } };
  return buildPod({
    metadata: { name: uid, namespace: "ns", uid },
    spec: { containers: [{ name: "main", image: "i", ...use }], volumes: [{ name: "v", ...volume }] },
  });
}

/** Repeats an operation until it succeeds, with another kubelet each time if it is killed. */
function repeatedly(scene: Scene, isKilled: boolean, operation: () => Promise<unknown>): Promise<void> {
  return attempted(operation, async () => {
    if (isKilled) await scene.restart();
  });
}

async function attempted(operation: () => Promise<unknown>, afterFailure = () => Promise.resolve()): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await operation();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
      await afterFailure();
    }
  }
}

/**
 * All that remains of Pods and volumes below the kubelet's directory, except empty directories. The kernel keeps the device of an unmounted
 * file system while another mount namespace has a copy of the mount: each start of a container on the machine makes one for a short time.
 */
async function leftovers({ root }: Scene): Promise<readonly string[]> {
  await becomes(() => loopDevicesUnder(dirname(root)), []);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  return [...files, ...(await readdir(join(root, "pods"))), ...(await mountsUnder(root)).map(({ path }) => path)];
}

async function lifeOf(scene: Scene, faults: Readonly<Record<string, CsiFault>>, isKilled: boolean): Promise<void> {
  for (const [method, fault] of Object.entries(faults)) scene.driver.fault(method, fault);
  const pod = aPod("u");
  await repeatedly(scene, isKilled, () => scene.volumes.mount(pod, ANY));
  const path = scene.volumes.mounted("u")?.get("v")?.path ?? "";
  await writeFile(join(path, "row"), "acknowledged");
  if (isKilled) await scene.restart();
  await repeatedly(scene, isKilled, () => scene.volumes.mount(pod, ANY));
  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=2"]);
  await repeatedly(scene, isKilled, () => scene.volumes.unmount("u"));
  if (isKilled) await scene.restart();
  await becomes(() => scene.driver.state(), ["vol-1 1048576 nodes= mounts=0"]);
  await becomes(() => leftovers(scene).catch(() => ["being removed"]), []);
  await repeatedly(scene, isKilled, () => scene.volumes.mount(aPod("later"), ANY));
  equal(await readFile(join(scene.volumes.mounted("later")?.get("v")?.path ?? "", "row"), "utf8"), "acknowledged");
  await repeatedly(scene, isKilled, () => scene.volumes.unmount("later"));
}

describe("a CSI volume ends in the same state whatever happens to a call", { ...needs("tmpfs") }, () => {
  for (const method of ["NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume", "NodeGetCapabilities"]) {
    for (const fault of CSI_FAULTS) {
      // A call that hangs takes its whole deadline, so it is tried once.
      for (const isKilled of fault === "hangs" ? [true] : [false, true]) {
        test(`${method} ${fault}${isKilled ? ", and the kubelet is killed" : ""}`, async () => {
          await using scene = await startScene({ hangs: fault === "hangs" });
          await lifeOf(scene, { [method]: fault }, isKilled);
        });
      }
    }
  }
});

for (const fault of CSI_FAULTS) {
  test(
    `a CSI volume is grown, and its claim says so, although NodeExpandVolume ${fault} and the kubelet is killed`,
    { ...needs("loop", "xfs") },
    async () => {
      await using scene = await startScene({ kind: "xfs", isEnlarged: true, hangs: fault === "hangs" });
      scene.driver.fault("NodeExpandVolume", fault);
      const isGrown = () => scene.claim().status?.capacity?.["storage"] === "400Mi";
      await repeatedly(scene, true, async () => {
        await scene.volumes.mount(aPod("u"), ANY);
        if (!isGrown()) throw new Error("the claim is not grown yet");
      });
      equal(scene.driver.calls.filter((call) => call === "NodeExpandVolume").length >= 2, true);
      equal(((await scene.volumes.report("u", "v"))?.filesystem.capacityBytes ?? 0) > 300 * 2 ** 20, true);

      await repeatedly(scene, true, () => scene.volumes.unmount("u"));

      deepEqual([await scene.driver.state(), await leftovers(scene)], [[`vol-1 ${ENLARGED_BYTES} nodes= mounts=0`], []]);
    },
  );
}

test("statistics of a CSI volume are those of its driver, and its failure is reported", { ...needs("tmpfs") }, async () => {
  await using scene = await startScene();
  await scene.volumes.mount(aPod("u"), ANY);
  scene.driver.fault("NodeGetVolumeStats", "fails");

  await rejects(scene.volumes.report("u", "v"), /NodeGetVolumeStats fails/);

  equal(((await scene.volumes.report("u", "v"))?.filesystem.capacityBytes ?? 0) > 0, true);
});

test("a staged CSI volume is unstaged after the last of its Pods only", { ...needs("tmpfs") }, async () => {
  await using scene = await startScene();
  await Promise.all(["u1", "u2"].map((uid) => scene.volumes.mount(aPod(uid), ANY)));
  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=3"]);
  await scene.restart();
  await scene.volumes.unmount("u1");
  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=2"]);
  await scene.volumes.unmount("u2");
  deepEqual([await scene.driver.state(), await leftovers(scene)], [["vol-1 1048576 nodes= mounts=0"], []]);
});

test("a Pod does not wait for a driver that fails to unstage, and the next Pod has the volume", { ...needs("tmpfs") }, async () => {
  await using scene = await startScene();
  await scene.volumes.mount(aPod("u"), ANY);
  scene.driver.fault("NodeUnstageVolume", "fails");

  await scene.volumes.unmount("u");
  deepEqual(await scene.volumes.pods(), []);
  await scene.volumes.mount(aPod("next"), ANY);
  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=2"]);
  await scene.restart();
  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=2"]);
  await scene.volumes.unmount("next");

  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=0"]);
  await becomes(() => leftovers(scene).catch(() => ["being removed"]), []);
});

for (const { fault, calls } of [
  { fault: "fails", calls: "NodeStageVolume" },
  { fault: "fails afterwards", calls: "NodeStageVolume NodeUnstageVolume" },
] as const) {
  test(
    `a Pod that is deleted after NodeStageVolume ${fault}: NodeUnstageVolume is called only if the volume may be staged`,
    { ...needs("tmpfs") },
    async () => {
      await using scene = await startScene();
      scene.driver.fault("NodeStageVolume", fault);
      await rejects(scene.volumes.mount(aPod("u"), ANY), /MountVolume\.MountDevice failed for volume "pv" : rpc error: code = /);

      await scene.volumes.unmount("u");

      equal(scene.driver.calls.filter((call) => call.includes("tageVolume")).join(" "), calls);
      deepEqual([await scene.driver.state(), await leftovers(scene)], [["vol-1 1048576 nodes= mounts=0"], []]);
    },
  );
}

test("NodeStageVolume that fails for a second Pod leaves the staged volume of the first", { ...needs("tmpfs") }, async () => {
  await using scene = await startScene();
  await scene.volumes.mount(aPod("u1"), ANY);
  scene.driver.fault("NodeStageVolume", "fails");
  await rejects(scene.volumes.mount(aPod("u2"), ANY), /NodeStageVolume fails/);
  await scene.volumes.unmount("u2");
  deepEqual(await scene.driver.state(), ["vol-1 1048576 nodes= mounts=2"]);
  await scene.volumes.unmount("u1");
  deepEqual([await scene.driver.state(), await leftovers(scene)], [["vol-1 1048576 nodes= mounts=0"], []]);
});

for (const { fault, calls } of [
  { fault: "fails", calls: "NodePublishVolume" },
  { fault: "fails afterwards", calls: "NodePublishVolume NodeUnpublishVolume" },
] as const) {
  test(
    `a Pod that is deleted after NodePublishVolume ${fault}: NodeUnpublishVolume is called only if the volume may be published`,
    { ...needs("tmpfs") },
    async () => {
      await using scene = await startScene();
      scene.driver.fault("NodePublishVolume", fault);
      await rejects(scene.volumes.mount(aPod("u"), ANY), /MountVolume\.SetUp failed for volume "pv" : rpc error: code = /);

      await scene.volumes.unmount("u");

      equal(scene.driver.calls.filter((call) => call.includes("ublishVolume")).join(" "), calls);
      deepEqual([await scene.driver.state(), await leftovers(scene)], [["vol-1 1048576 nodes= mounts=0"], []]);
    },
  );
}

test("an inline CSI volume is published and unpublished with its Pod", { ...needs("tmpfs") }, async () => {
  await using scene = await startScene();
  await scene.volumes.mount(aPod("u", { isInline: true }), ANY);
  const states = await scene.driver.state();
  equal(states.filter((line) => line.startsWith("csi-") && line.endsWith("mounts=1")).length, 1);
  await scene.volumes.unmount("u");
  deepEqual(await leftovers(scene), []);
});

test("a raw block device of a CSI driver is published as a device", { ...needs("loop") }, async () => {
  await using scene = await startScene({ kind: "block" });
  const mounted = (await scene.volumes.mount(aPod("u", { isBlock: true }), ANY)).get("v");
  equal(mounted?.isBlockDevice, true);
  await scene.restart();
  await scene.volumes.unmount("u");
  deepEqual([await scene.driver.state(), await leftovers(scene)], [["vol-1 1048576 nodes= mounts=0"], []]);
});

test("without its driver a volume is neither mounted nor unmounted, and says so", { ...needs("tmpfs") }, async () => {
  await using scene = await startScene();
  await scene.driver[Symbol.asyncDispose]();
  await rejects(
    scene.volumes.mount(aPod("u"), ANY),
    /MountVolume\.(SetUp|MountDevice) failed for volume "(pv|v)" : rpc error: code = (Unavailable|DeadlineExceeded)/,
  );
});
