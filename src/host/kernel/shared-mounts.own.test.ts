import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../files/private-files.ts";
import { needs } from "../../testing/needs.ts";
import { mountTable, mountsUnder, parseMounts } from "./mount-table.ts";
import { bindMount, mountMemory, unmountUnder } from "./mounts.ts";
import { coveringMount, isBoundToItself, shareMounts } from "./shared-mounts.ts";

const TABLE = parseMounts(
  [
    "1 0 8:0 / / rw - ext4 x rw",
    "2 1 8:1 /sub /data rw - ext4 y rw",
    "3 2 8:1 /sub/kubelet /data/kubelet rw shared:7 - ext4 y rw",
    "4 1 8:0 /elsewhere /srv rw - ext4 x rw",
    "5 1 8:0 /opt/kubelet /opt/kubelet rw - ext4 x rw",
  ].join("\n"),
);

test("the mount that a path is on is the last one with the longest path", () => {
  const rows = { "/data/kubelet/pods": "3", "/data/kubelet2": "2", "/etc": "1", "/srv": "4" };
  for (const [path, id] of Object.entries(rows)) equal(coveringMount(TABLE, path)?.id, id, path);
});

test("a bind mount of a directory to itself is distinguished from a mount of another directory", () => {
  const bound = TABLE.filter((entry) => isBoundToItself(TABLE, entry)).map(({ path }) => path);
  deepEqual(bound, ["/data/kubelet", "/opt/kubelet"]);
});

async function isShared(path: string): Promise<boolean | undefined> {
  return coveringMount(await mountTable(), path)?.isShared;
}

test(
  "mounts below a directory are shared once, also by a second process, and released when nothing is mounted",
  { ...needs("tmpfs") },
  async () => {
    await using directory = await makeTemporaryDirectory("k8ts-shared-");
    // A private parent, so that the result does not depend on the machine.
    const parent = await realpath(directory.path);
    await mountMemory(parent, {});
    const root = join(parent, "kubelet");
    await mkdir(join(root, "volume"), { recursive: true });
    try {
      const first = await shareMounts(root);
      const second = await shareMounts(root);
      equal(await isShared(root), true);
      equal((await mountsUnder(root)).length, 1);
      await mountMemory(join(root, "volume"), {});
      await writeFile(join(root, "volume", "file"), "");

      await first[Symbol.asyncDispose]();
      deepEqual(
        (await mountsUnder(root)).map(({ path }) => path),
        [root, join(root, "volume")],
      );
      await unmountUnder(join(root, "volume"));
      await second[Symbol.asyncDispose]();
      deepEqual(await mountsUnder(root), []);
    } finally {
      await unmountUnder(parent);
    }
  },
);

test("sharing a directory does not hide its mounts, and keeps a mount that it did not create", { ...needs("tmpfs") }, async () => {
  await using directory = await makeTemporaryDirectory("k8ts-shared-");
  const parent = await realpath(directory.path);
  await mountMemory(parent, {});
  const [root, other] = [join(parent, "kubelet"), join(parent, "other")];
  await mkdir(join(root, "volume"), { recursive: true });
  await mkdir(other);
  try {
    await mountMemory(join(root, "volume"), {});
    await rejects(shareMounts(root), /Cannot share mounts below .*kubelet: .*volume is mounted already/);
    await unmountUnder(root);
    await bindMount(other, root, []);
    const shared = await shareMounts(root);
    equal(await isShared(root), true);
    await shared[Symbol.asyncDispose]();
    equal((await mountsUnder(root)).length, 1);
  } finally {
    await unmountUnder(parent);
  }
});
