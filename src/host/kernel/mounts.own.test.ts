import assert from "node:assert/strict";
import { mkdir, open, readFile, realpath, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "../../testing/needs.ts";
import { beginsFileSystem, mountsUnder, parseMounts } from "./mount-table.ts";
import { missingHelper, mountMemory, mountOpenFile, unmountUnder } from "./mounts.ts";
import { makeTemporaryDirectory } from "../files/private-files.ts";

async function pathsUnder(root: string): Promise<readonly string[]> {
  return (await mountsUnder(root)).map(({ path }) => path);
}

test("mount points are decoded as the kernel escapes them", () => {
  const table = "36 35 98:0 /a /mnt/with\\040blank rw - ext4 x rw\n37 35 98:0 / /mnt/\\303\\244 rw - tmpfs y rw\n";
  assert.deepEqual(
    parseMounts(table).map(({ path, fileSystem }) => ({ path, fileSystem })),
    [
      { path: "/mnt/with blank", fileSystem: "ext4" },
      { path: "/mnt/ä", fileSystem: "tmpfs" },
    ],
  );
});

test("a file system whose program is not installed is reported with the package to install", () => {
  const find = (installed: readonly string[]) => (name: string) => (installed.includes(name) ? `/sbin/${name}` : undefined);
  assert.deepEqual(
    [missingHelper("nfs", find([])), missingHelper("nfs", find(["mount.nfs"])), missingHelper("ext4", find([]))],
    ["mount.nfs not found; install it on the node (Debian: nfs-common)", undefined, undefined],
  );
});

test(
  "a tmpfs is mounted with its size, and all mounts below a directory are unmounted, the innermost first",
  { ...needs("tmpfs") },
  async () => {
    await using directory = await makeTemporaryDirectory("k8ts-mounts-");
    const root = await realpath(directory.path);
    const [outer, inner] = [join(root, "a b"), join(root, "a b", "inner")];
    await mkdir(outer);
    await mountMemory(outer, { sizeBytes: 2 ** 20 });
    await mkdir(inner);
    await mountMemory(inner, {});
    await mountMemory(inner, { sizeBytes: 4_096 });
    const { blocks, bsize } = await statfs(outer);

    assert.equal(blocks * bsize, 2 ** 20);
    assert.equal(await beginsFileSystem(outer), true);
    assert.deepEqual(await pathsUnder(root), [outer, inner, inner]);
    await unmountUnder(root);
    assert.deepEqual(await pathsUnder(root), []);
    assert.equal(await beginsFileSystem(outer), false);
    await unmountUnder(root);
  },
);

test("a mount in use is unmounted, too", { ...needs("tmpfs") }, async () => {
  await using directory = await makeTemporaryDirectory("k8ts-mounts-");
  const root = await realpath(directory.path);
  await mountMemory(root, {});
  const used = await open(join(root, "used"), "w");
  try {
    await unmountUnder(root);
    assert.deepEqual(await pathsUnder(root), []);
  } finally {
    await used.close();
  }
});

test("an open file is bind-mounted, whatever happens to its name", { ...needs("tmpfs") }, async () => {
  await using directory = await makeTemporaryDirectory("k8ts-mounts-");
  const root = await realpath(directory.path);
  await writeFile(join(root, "file"), "the file");
  await writeFile(join(root, "target"), "");
  const opened = await open(join(root, "file"), "r");
  try {
    await mountOpenFile(opened.fd, join(root, "target"));
    assert.equal(await readFile(join(root, "target"), "utf8"), "the file");
    assert.equal((await stat(join(root, "target"))).ino, (await opened.stat()).ino);
  } finally {
    await opened.close();
    await unmountUnder(root);
  }
});
