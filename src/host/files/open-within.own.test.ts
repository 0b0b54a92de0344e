import assert from "node:assert/strict";
import { lstat, mkdir, readdir, rename, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openWithin } from "./open-within.ts";
import { makeTemporaryDirectory } from "./private-files.ts";

async function startCase() {
  const directory = await makeTemporaryDirectory("k8ts-within-");
  const [volume, outside] = [join(directory.path, "volume"), join(directory.path, "outside")];
  await mkdir(join(volume, "dir"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, "secret"), "");
  await writeFile(join(volume, "dir/file"), "");
  return { volume, outside, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

async function inodeWithin(volume: string, path: string, mode?: number): Promise<number> {
  const opened = await openWithin(volume, path, mode);
  try {
    return (await opened.stat()).ino;
  } finally {
    await opened.close();
  }
}

test("paths inside are opened, also through links that stay inside", async () => {
  await using all = await startCase();
  const { volume } = all;
  await symlink("dir", join(volume, "link"));
  await symlink("../link/file", join(volume, "dir/again"));
  const { ino } = await stat(join(volume, "dir/file"));
  for (const path of ["dir/file", "./dir//file", "link/file", "dir/again"]) assert.equal(await inodeWithin(volume, path), ino);
  assert.equal(await inodeWithin(volume, ""), (await stat(volume)).ino);
});

test("links to the outside are rejected, and nothing is created behind them", async () => {
  await using all = await startCase();
  const { volume, outside } = all;
  await symlink(outside, join(volume, "absolute"));
  await symlink("../outside", join(volume, "relative"));
  await symlink("../outside/new", join(volume, "dangling"));
  for (const path of ["absolute", "absolute/secret", "relative/made/deep", "dangling", "dangling/x", "dir/file/x"]) {
    await assert.rejects(inodeWithin(volume, path, 0o755), `${path} is refused`);
  }
  assert.deepEqual(await readdir(outside), ["secret"]);
});

test("missing directories are created with the requested mode", async () => {
  await using all = await startCase();
  const { volume } = all;
  const mask = process.umask(0o077);
  try {
    await inodeWithin(volume, "dir/x/y", 0o2775);
  } finally {
    process.umask(mask);
  }
  for (const path of ["dir/x", "dir/x/y"]) assert.equal(((await stat(join(volume, path))).mode & 0o7777).toString(8), "2775");
  await assert.rejects(inodeWithin(volume, "missing"), { name: "OutsideError" });
});

test("a process that swaps directories for links during the lookup cannot redirect it outside", async () => {
  await using all = await startCase();
  const { volume, outside } = all;
  const forbidden = new Set([(await stat(outside)).ino, (await stat(join(outside, "secret"))).ino]);
  await writeFile(join(volume, "dir/secret"), "");
  let isOver = false;
  const swap = async (): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      await rename(join(volume, "dir"), join(volume, "aside"));
      await symlink(outside, join(volume, "dir"));
      await unlink(join(volume, "dir"));
      await rename(join(volume, "aside"), join(volume, "dir"));
      // Pauses of different lengths, so that the swap hits each step of the lookup.
      for (let look = 0; look < round % 8; look++) await stat(volume);
    }
  };
  const swapping = swap();
  const came = { opened: 0, refused: 0 };
  try {
    for (let round = 0; round < 20_000 && (came.opened < 100 || came.refused < 100); round++) {
      const inode = await inodeWithin(volume, "dir/secret").catch(() => undefined);
      if (inode === undefined) came.refused++;
      else came.opened++;
      assert.ok(inode === undefined || !forbidden.has(inode), "it is the volume's own");
    }
  } finally {
    isOver = true;
    await swapping;
  }
  assert.ok(came.opened >= 100 && came.refused >= 100, `it came to both: ${JSON.stringify(came)}`);
  assert.equal((await lstat(join(volume, "dir"))).isDirectory(), true);
});
