import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "../../testing/needs.ts";
import { makeTemporaryDirectory } from "./private-files.ts";
import { fileKind, giveToGroup, makeDirectories, modeOf, namesIn, removeTree, touchFile } from "./shared-directory.ts";

test("file types are distinguished, through links", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-shared-");
  const at = (name: string) => join(directory.path, name);
  await writeFile(at("file"), "");
  await symlink("file", at("link"));
  execFileSync("mkfifo", [at("fifo")]);
  const server = createServer().listen(at("socket"));
  await new Promise((resolve) => void server.once("listening", resolve));
  const kinds = await Promise.all([".", "file", "link", "fifo", "socket", "missing"].map((name) => fileKind(at(name))));
  server.close();
  assert.deepEqual(kinds, ["directory", "file", "file", "other", "socket", undefined]);
  assert.equal(await fileKind("/dev/null"), "character-device");
});

test("directories are created with their exact mode regardless of the umask; existing ones keep theirs", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-shared-");
  const at = (name: string) => join(directory.path, name);
  const mask = process.umask(0o077);
  try {
    await makeDirectories(at("a/b"), 0o777);
    await makeDirectories(at("a"), 0o700);
    await touchFile(at("f"), 0o644);
  } finally {
    process.umask(mask);
  }
  assert.deepEqual(await Promise.all([modeOf(at("a")), modeOf(at("a/b"))]), [0o777, 0o777]);
  await assert.rejects(makeDirectories(at("f/x"), 0o755));
  assert.deepEqual([await namesIn(at("a")), await namesIn(at("none"))], [["b"], []]);
});

test("touching a FIFO does not block, and touching a dangling link creates nothing at its target", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-shared-");
  const at = (name: string) => join(directory.path, name);
  execFileSync("mkfifo", [at("fifo")]);
  await symlink("target", at("link"));
  await writeFile(at("file"), "kept");

  for (const name of ["fifo", "link", "file"]) await touchFile(at(name), 0o644);

  assert.deepEqual([await fileKind(at("fifo")), await fileKind(at("target")), (await stat(at("file"))).size], ["other", undefined, 4]);
});

test("the group of a whole directory is set, of links themselves and not of their targets", { ...needs("tmpfs") }, async () => {
  await using directory = await makeTemporaryDirectory("k8ts-shared-");
  const at = (name: string) => join(directory.path, name);
  await writeFile(at("outside"), "");
  await mkdir(at("v/dir"), { recursive: true });
  await writeFile(at("v/dir/file"), "");
  await chmod(at("v/dir/file"), 0o600);
  await symlink("../outside", at("v/link"));

  await giveToGroup(at("v"), 1_234, (mode, { isDirectory }) => mode | (isDirectory ? 0o2070 : 0o040));

  const seen = await Promise.all(["v", "v/dir", "v/dir/file", "v/link", "outside"].map(async (name) => (await lstat(at(name))).gid));
  assert.deepEqual(seen, [1_234, 1_234, 1_234, 1_234, (await stat(at("outside"))).gid]);
  assert.notEqual((await stat(at("outside"))).gid, 1_234);
  assert.deepEqual([(await modeOf(at("v/dir/file"))).toString(8), ((await modeOf(at("v"))) & 0o2070).toString(8)], ["640", "2070"]);
});

test("a tree that exceeds the maximum path length is removed", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-shared-");
  const root = join(directory.path, "tree");
  const name = "d".repeat(200);
  // 60 levels of 200 letters: a path of 12,000, of which Linux takes 4,096.
  execFileSync("sh", [
    "-c",
    `mkdir "${root}" && cd "${root}" && for i in $(seq 60); do mkdir ${name} && cd -P ./${name} || exit 1; done; mkfifo pipe`,
  ]);
  await removeTree(root);
  assert.equal(existsSync(root), false);
  await removeTree(root);
});
