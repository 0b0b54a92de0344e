import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { needs } from "../../../testing/needs.ts";
import {
  aDevice,
  DEVICE_BYTES,
  mountPaths,
  podOfClaims as aPod,
  startVolumeCase as startCase,
  type VolumeCase as Case,
} from "./testing/volume-case.ts";

const ANY = new AbortController().signal;

async function pathOf({ volumes }: Case, pod: Pod, name: string): Promise<string> {
  return (await volumes.mount(pod, ANY)).get(name)?.path ?? "";
}

async function fileSystemBytes(path: string): Promise<number> {
  const { blocks, bsize } = await statfs(path);
  return blocks * bsize;
}

test(
  "claims are directories of the node: hostPath as it is, local as a bind mount that a restart finds",
  { ...needs("tmpfs") },
  async () => {
    await using all = await startCase();
    const data = join(all.disk, "data");
    await mkdir(data);
    all.bind("host", { hostPath: { path: data } });
    all.bind("here", { local: { path: data } });
    const pod = aPod("u", ["host", "here"]);

    assert.equal(await pathOf(all, pod, "host"), data);
    const path = await pathOf(all, pod, "here");
    assert.equal(path, join(all.root, "pods/u/volumes/kubernetes.io~local-volume/here"));
    await writeFile(join(path, "row"), "1");
    await all.restart();
    assert.equal(await pathOf(all, pod, "here"), path);
    assert.deepEqual(await mountPaths(all.root), [path]);
    await all.volumes.unmount("u");

    assert.deepEqual([await mountPaths(all.root), await all.volumes.pods(), await readFile(join(data, "row"), "utf8")], [[], [], "1"]);
  },
);

test("the data of a claim survives an unmount that keeps files, one without, and one in a new process", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  const data = join(all.disk, "data");
  await mkdir(join(data, "sub"), { recursive: true });
  await writeFile(join(data, "sub/row"), "1");
  all.bind("here", { local: { path: data } });
  const pod = aPod("u", ["here"]);
  const container = { name: "c", image: "i", volumeMounts: [{ name: "here", mountPath: "/here", subPath: "sub" }] };

  for (const keepsFiles of [true, false, false]) {
    await all.volumes.mount(pod, ANY);
    const sub = await all.volumes.subPath(pod, container, container.volumeMounts[0] as never, "sub");
    assert.equal(await readFile(join(sub, "row"), "utf8"), "1");
    await all.restart();
    await all.volumes.unmount("u", { keepsFiles });
    assert.equal(await readFile(join(data, "sub/row"), "utf8"), "1");
  }
  assert.deepEqual(await mountPaths(all.root), []);
});

test(
  "a volume with the access mode ReadWriteOncePod waits for the Pod that uses it, also after a restart",
  { ...needs("tmpfs") },
  async () => {
    await using all = await startCase();
    await mkdir(join(all.disk, "data"));
    all.bind("one", { local: { path: join(all.disk, "data") }, accessModes: ["ReadWriteOncePod"] });

    const both = await Promise.allSettled(["a", "b"].map((uid) => all.volumes.mount(aPod(uid, ["one"]), ANY)));
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    const [user, other] = both[0]?.status === "fulfilled" ? ["a", "b"] : ["b", "a"];
    await all.restart();
    await assert.rejects(
      all.volumes.mount(aPod(other, ["one"]), ANY),
      /SetUp failed for volume "one" : volume uses the ReadWriteOncePod access mode and is already in use by another pod$/,
    );
    await all.volumes.mount(aPod(user, ["one"]), ANY);
    await all.volumes.unmount(user);

    await all.volumes.mount(aPod(other, ["one"]), ANY);
    await all.volumes.unmount(other);
  },
);

test("readOnly, mountOptions and fsGroup apply to the Pod's mount", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  const data = join(all.disk, "data");
  await mkdir(data);
  all.bind("here", { local: { path: data }, mountOptions: ["noexec"] });

  const readOnly = await pathOf(all, aPod("r", ["here"], { readOnly: true }), "here");
  const writable = await pathOf(all, aPod("w", ["here"], { securityContext: { fsGroup: 4_711 } }), "here");

  await assert.rejects(writeFile(join(readOnly, "x"), ""), { code: "EROFS" });
  const { gid, mode } = await stat(data);
  assert.deepEqual([gid, (mode & 0o7777).toString(8)], [4_711, "2775"]);
  await writeFile(join(writable, "run"), "#!/bin/sh\n", { mode: 0o755 });
  assert.throws(() => execFileSync(join(writable, "run"), { stdio: "ignore" }), { code: "EACCES" });
});

test("claims that cannot be used are reported together with upstream's message", async () => {
  await using all = await startCase();
  all.bind("far", {
    local: { path: all.disk },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }] } },
  });
  all.bind("lost", { local: { path: all.disk } }, { phase: "Lost" });

  await assert.rejects(all.volumes.mount(aPod("u", ["none", "lost"]), ANY), {
    name: "MountError",
    message:
      "Unable to attach or mount volumes: unmounted volumes=[lost none], unattached volumes=[], failed to process volumes=[none lost]: " +
      'error processing PVC ns/c-none: failed to fetch PVC from API server: persistentvolumeclaims "c-none" not found; ' +
      "error processing PVC ns/c-lost: PVC is not bound",
  });
  await assert.rejects(all.volumes.mount(aPod("v", ["far"]), ANY), {
    message: 'MountVolume.NodeAffinity check failed for volume "far" : no matching NodeSelectorTerms',
  });
  all.labels.ofNode = { zone: "a" };
  await all.volumes.mount(aPod("v", ["far"]), ANY);
});

test(
  "a device is formatted, mounted once for two Pods, kept over a restart, and unmounted after the last Pod with its data",
  { ...needs("tmpfs", "loop") },
  async () => {
    await using all = await startCase();
    await using device = await aDevice(all.disk);
    all.bind("disk", { local: { path: device.path, fsType: "ext4" } });
    const staged = join(all.root, "plugins/kubernetes.io/local-volume/mounts/disk");

    const first = await pathOf(all, aPod("a", ["disk"]), "disk");
    await writeFile(join(first, "row"), "1");
    const second = await pathOf(all, aPod("b", ["disk"]), "disk");
    assert.equal(await readFile(join(second, "row"), "utf8"), "1");
    assert.deepEqual(await mountPaths(all.root), [staged, first, second]);
    await all.restart();
    await all.volumes.unmount("a");
    assert.deepEqual(await mountPaths(all.root), [staged, second]);
    await all.restart();
    await all.volumes.unmount("b");
    assert.deepEqual([await mountPaths(all.root), await readdir(join(staged, ".."))], [[], []]);

    assert.equal(await readFile(join(await pathOf(all, aPod("c", ["disk"]), "disk"), "row"), "utf8"), "1");
    await all.volumes.unmount("c");
    assert.deepEqual(await mountPaths(all.root), []);
  },
);

const SMALL = { capacity: { storage: "16Mi" } };
const GROWN = { phase: "Bound", capacity: { storage: "64Mi" } };
const RESIZED = 'FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "disk" n1';

/** Enlarges the volume "disk" as a provisioner does. */
async function enlarge(all: Case, device: Awaited<ReturnType<typeof aDevice>>): Promise<void> {
  await device.grow(4 * DEVICE_BYTES);
  const conditions = [{ type: "FileSystemResizePending", status: "True" as const }];
  all.bind("disk", { local: { path: device.path }, capacity: { storage: "64Mi" } }, { ...SMALL, conditions });
}

test("a claim that was enlarged while no Pod used it is grown with the next one", { ...needs("tmpfs", "loop") }, async () => {
  await using all = await startCase();
  await using device = await aDevice(all.disk);
  all.bind("disk", { local: { path: device.path }, ...SMALL }, SMALL);
  const before = await fileSystemBytes(await pathOf(all, aPod("a", ["disk"]), "disk"));
  await all.volumes.unmount("a");
  await enlarge(all, device);

  const after = await fileSystemBytes(await pathOf(all, aPod("b", ["disk"]), "disk"));

  assert.equal(after > 2 * before, true);
  assert.deepEqual([all.claims.get("c-disk")?.status, all.events], [GROWN, [RESIZED, RESIZED]]);
  await all.volumes.unmount("b");
  const mounting = ["verify_controller_attached_volume", "volume_mount"];
  const unmounting = ["volume_unmount", "unmount_device"];
  assert.deepEqual(
    all.operations,
    [...mounting, ...unmounting, ...mounting, "volume_fs_resize", ...unmounting].map((name) => `${name} kubernetes.io/local-volume`),
  );
});

test(
  "the operations of a raw device, and of a volume whose source does not exist, are measured as upstream's",
  { ...needs("tmpfs", "loop") },
  async () => {
    await using all = await startCase();
    await using device = await aDevice(all.disk);
    all.bind("raw", { local: { path: device.path }, volumeMode: "Block" });
    all.bind("none", { local: { path: join(all.disk, "none") } });

    await all.volumes.mount(aPod("u", ["raw"], { isBlock: true }), ANY);
    await all.volumes.unmount("u");
    await assert.rejects(all.volumes.mount(aPod("v", ["none"]), ANY));

    const plugin = "kubernetes.io/local-volume";
    assert.deepEqual(
      all.operations.map((operation) => operation.replace(` ${plugin}`, "")),
      [
        ...["verify_controller_attached_volume", "map_volume", "unmap_volume"],
        ...["verify_controller_attached_volume", "volume_mount failed"],
      ],
    );
  },
);

test("a claim that is enlarged while a Pod uses it is grown, or an Event says why not", { ...needs("tmpfs", "loop") }, async () => {
  await using all = await startCase();
  await using device = await aDevice(all.disk);
  all.bind("disk", { local: { path: device.path }, ...SMALL }, SMALL);
  const path = await pathOf(all, aPod("a", ["disk"]), "disk");
  const before = await fileSystemBytes(path);
  await enlarge(all, device);

  await all.volumes.mount(aPod("b", ["disk"]), ANY);

  // The kernel demands CAP_SYS_RESOURCE for this, which the machine of the test may lack.
  if (all.events.includes(RESIZED)) {
    assert.equal((await fileSystemBytes(path)) > 2 * before, true);
    assert.deepEqual(all.claims.get("c-disk")?.status, GROWN);
  } else {
    assert.match(all.events.join(), /^VolumeResizeFailed NodeExpandVolume.NodeExpandVolume failed for volume "disk" : .*resize2fs/);
    assert.equal(all.claims.get("c-disk")?.status?.conditions?.length, 1);
  }
  for (const uid of ["a", "b"]) await all.volumes.unmount(uid);
});

test("volumeMode Block is a link to the device, which a restart finds and nothing formats", { ...needs("tmpfs", "loop") }, async () => {
  await using all = await startCase();
  await using device = await aDevice(all.disk);
  all.bind("raw", { local: { path: device.path }, volumeMode: "Block" });
  const pod = aPod("u", ["raw"], { isBlock: true });

  const mounted = (await all.volumes.mount(pod, ANY)).get("raw");
  await all.restart();
  assert.deepEqual((await all.volumes.mount(pod, ANY)).get("raw"), mounted);

  assert.deepEqual(mounted, {
    path: join(all.root, "pods/u/volumeDevices/kubernetes.io~local-volume/raw"),
    isReadOnly: false,
    isExternal: false,
    isEphemeral: false,
    isBlockDevice: true,
    claim: { namespace: "ns", name: "c-raw" },
  });
  assert.equal((await stat(mounted?.path ?? "")).isBlockDevice(), true);
  assert.equal(
    (await readFile(join(all.disk, "image"))).every((byte) => byte === 0),
    true,
  );
  await all.volumes.unmount("u");
  assert.deepEqual([await all.volumes.pods(), await mountPaths(all.root)], [[], []]);
});
