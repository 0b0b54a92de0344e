import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { local } from "./local.ts";

const DIRECTORY = { persistent: { local: { path: "/srv/data" } } };
const DEVICE = { persistent: { local: { path: "/dev/a", fsType: "xfs" }, mountOptions: ["noatime"] } };
const BLOCK = { persistent: { local: { path: "/dev/a" }, volumeMode: "Block" as const } };
const STAGED = "/data/plugins/kubernetes.io/local-volume/mounts/pv";
const MOUNTED = "/data/pods/u/volumes/kubernetes.io~local-volume/pv";

function prepare({ mounter }: VolumeWorld): void {
  mounter.add("/srv/data", "directory");
  mounter.add("/srv/file", "file");
  mounter.addDevice("/dev/a", 1_000);
}

const INVALID = [
  { source: { persistent: { local: { path: "/a/../b" } } }, message: "invalid path: /a/../b must not contain '..'" },
  { source: { persistent: { local: { path: "/none" } } }, message: 'path "/none" does not exist' },
  { source: { persistent: { local: { path: "/srv/file" } } }, message: "only directory and block device are supported" },
  {
    source: { persistent: { local: { path: "/srv/data" }, volumeMode: "Block" as const } },
    message: 'path "/srv/data" is not a block device',
  },
];

for (const [title, source] of Object.entries({ directory: DIRECTORY, device: DEVICE, block: BLOCK })) {
  describe(title, () => volumeSuite({ plugin: local, source, prepare, invalid: title === "directory" ? INVALID : [] }));
}

function open(): VolumeWorld {
  const world = new VolumeWorld();
  prepare(world);
  return world;
}

function mountLines(world: VolumeWorld): readonly string[] {
  return world.mounter
    .lines()
    .filter((line) => world.mounter.mounts().some((path) => line.startsWith(`${path} `) && !line.includes("directory")));
}

test("a directory is bind-mounted, read-only if the claim is used so", async () => {
  const world = open();

  const mounted = await world.mount(local, { ...DIRECTORY, readOnly: true });

  deepEqual(mounted, { path: MOUNTED, isReadOnly: true, isExternal: false, isEphemeral: false });
  deepEqual(mountLines(world), [`${MOUNTED} bind /srv/data ro`]);
});

test("an empty device is formatted with the volume's file system and mounted once for all Pods", async () => {
  const world = open();

  await world.mount(local, DEVICE);

  deepEqual(mountLines(world), [`${STAGED} xfs /dev/a defaults,noatime`, `${MOUNTED} bind ${STAGED} noatime`].toSorted());
  equal(world.mounter.devices.get("/dev/a")?.fileSystem, "xfs");
});

test("a device with a file system is repaired and never formatted", async () => {
  const world = open();
  await world.mount(local, DEVICE);
  await world.unmount(local, DEVICE);
  const ext4 = { persistent: { local: { path: "/dev/a", fsType: "ext4" } } };

  await rejects(world.mount(local, ext4), {
    message: 'failed to mount the volume as "ext4", it already contains xfs. Mount error: wrong fs type on /dev/a',
  });

  const device = world.mounter.devices.get("/dev/a");
  deepEqual([device?.fileSystem, device?.repairs], ["xfs", 1]);
  await world.mount(local, { persistent: { local: { path: "/dev/a" } } });
});

test("an empty device is not formatted for a read-only claim", async () => {
  await rejects(open().mount(local, { ...DEVICE, readOnly: true }), {
    message: "cannot mount unformatted disk /dev/a as we are manipulating it in read-only mode",
  });
});

test("a grown device has its file system grown, and a block volume has none", async () => {
  const world = open();
  await world.mount(local, DEVICE);
  const device = world.mounter.devices.get("/dev/a");
  if (device !== undefined) device.sizeBytes = 2_000;
  const volume = world.volumeOf(local, DEVICE);

  await local.expand?.(volume, await local.resolve(volume, world, new AbortController().signal), world);

  equal(device?.usedBytes, 2_000);
});

test("fsGroup changes the owner again only if fsGroupChangePolicy is Always or the root differs", async () => {
  const world = open();
  world.spec = { securityContext: { fsGroup: 5, fsGroupChangePolicy: "OnRootMismatch" } };
  await world.mount(local, DIRECTORY);
  const lines = world.mounter.lines();
  equal(lines.includes(`${MOUNTED} directory 2777 5`), true);

  // No change is allowed but the two that create directories and the two of the ready file.
  world.mounter.killAfter(4);
  await world.mount(local, DIRECTORY);

  world.mounter.killAfter(100);
  world.spec = { securityContext: { fsGroup: 6, fsGroupChangePolicy: "OnRootMismatch" } };
  await world.mount(local, DIRECTORY);
  equal(world.mounter.lines().includes(`${MOUNTED} directory 2777 6`), true);
});
