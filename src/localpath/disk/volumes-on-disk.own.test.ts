import assert from "node:assert/strict";
import { lstat, mkdir, readdir, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { detachLoopDevice, findLoopDevice, loopDevicesUnder } from "../../host/kernel/loop-devices.ts";
import { needs } from "../../testing/needs.ts";
import { RefusedVolumeError } from "../local-volumes.ts";
import { openVolumesOnDisk, roundedSize } from "./volumes-on-disk.ts";

const NAME = "pvc-00000000-0000-0000-0000-000000000001";
const OTHER = "pvc-00000000-0000-0000-0000-000000000002";
const MEBIBYTE = 1 << 20;

async function opened() {
  const temporary = await makeTemporaryDirectory("k8ts-local-path-");
  const directory = join(temporary.path, "volumes");
  const open = () => openVolumesOnDisk({ directory, log: silentLogger });
  return {
    directory,
    open,
    volumes: await open(),
    async [Symbol.asyncDispose]() {
      for (const { device } of await loopDevicesUnder(directory)) await detachLoopDevice(device);
      await temporary[Symbol.asyncDispose]();
    },
  };
}

test("a directory is created for any user of containers and removed with its content, links outside untouched", async () => {
  await using disk = await opened();
  const outside = join(disk.directory, "..", "outside");
  await mkdir(outside);
  await writeFile(join(outside, "kept"), "kept");

  await disk.volumes.create(NAME, { is: "directory" });
  await disk.volumes.create(NAME, { is: "directory" });
  const path = disk.volumes.path(NAME, "directory");
  assert.equal((await stat(path)).mode & 0o7777, 0o777);
  assert.equal((await stat(disk.directory)).mode & 0o7777, 0o700);
  await mkdir(join(path, "deep", "deeper"), { recursive: true });
  await symlink(outside, join(path, "deep", "link"));
  await writeFile(join(path, "deep", "deeper", "row"), "row");
  await disk.volumes.delete(NAME);
  await disk.volumes.delete(NAME);

  assert.deepEqual(await readdir(outside), ["kept"]);
  for (const part of ["directories", "deleted", "unconfirmed"]) assert.deepEqual(await readdir(join(disk.directory, part)), []);
});

test("a volume whose directory was replaced by a link is removed without following it", async () => {
  await using disk = await opened();
  const outside = join(disk.directory, "..", "outside");
  await mkdir(outside);
  await writeFile(join(outside, "kept"), "kept");
  await symlink(outside, disk.volumes.path(NAME, "directory"));

  await disk.volumes.delete(NAME);

  assert.deepEqual(await readdir(outside), ["kept"]);
  assert.deepEqual(await readdir(join(disk.directory, "directories")), []);
});

test("an unconfirmed volume is known after a restart until it is confirmed", async () => {
  await using disk = await opened();
  await disk.volumes.create(NAME, { is: "directory" });
  await disk.volumes.create(OTHER, { is: "directory" });
  await disk.volumes.confirm(OTHER);

  const restarted = await disk.open();
  assert.deepEqual([...restarted.unconfirmed], [NAME]);
  await restarted.confirm(NAME);

  assert.deepEqual([...(await disk.open()).unconfirmed], []);
  assert((await lstat(disk.volumes.path(NAME, "directory"))).isDirectory());
});

test("a removal that was interrupted is completed at the next start", async () => {
  await using disk = await opened();
  await mkdir(join(disk.directory, "deleted", NAME, "half"), { recursive: true });

  await disk.open();

  assert.deepEqual(await readdir(join(disk.directory, "deleted")), []);
});

test("names that are not made from a uid never become paths", async () => {
  await using disk = await opened();
  for (const name of ["..", "pvc-../../etc", "etc"]) assert.throws(() => disk.volumes.path(name, "directory"), /made from the uid/);
});

test("sizes in messages are rounded", () => {
  const sizes = [0, 5, 1023, 1536, 58.4 * 2 ** 30, 900 * 2 ** 50, 3_000 * 2 ** 50];
  assert.deepEqual(sizes.map(roundedSize), ["0", "5", "1023", "1.5Ki", "58Gi", "900Pi", "3000Pi"]);
});

test("an image larger than the free space that is not promised is refused", { ...needs("loop") }, async () => {
  await using disk = await opened();
  const sizeBytes = 2 ** 52;
  await assert.rejects(() => disk.volumes.create(NAME, { is: "image", sizeBytes, fsType: "ext4" }), RefusedVolumeError);
  assert.deepEqual(await readdir(join(disk.directory, "images")), []);
});

test("an image is a device of its size, grows, is attached again after a reboot, and leaves no device", { ...needs("loop") }, async () => {
  await using disk = await opened();
  const { volumes } = disk;
  await volumes.create(NAME, { is: "image", sizeBytes: 8 * MEBIBYTE, fsType: "ext4" });
  const link = volumes.path(NAME, "image");
  const image = join(disk.directory, "images", NAME);
  assert.equal(await readlink(link), await findLoopDevice(image));
  assert((await stat(link)).isBlockDevice());

  await volumes.grow(NAME, 16 * MEBIBYTE);
  await volumes.grow(NAME, 16 * MEBIBYTE);
  assert.equal((await stat(image)).size, 16 * MEBIBYTE);
  // As a reboot leaves it.
  await detachLoopDevice((await findLoopDevice(image)) ?? "");
  const restarted = await disk.open();
  assert.equal(await readlink(link), await findLoopDevice(image));

  await restarted.delete(NAME);
  assert.deepEqual(await loopDevicesUnder(disk.directory), []);
  for (const part of ["images", "devices", "deleted"]) assert.deepEqual(await readdir(join(disk.directory, part)), []);
});
