import { deepEqual, equal, rejects } from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeFileWhole } from "./files.ts";

async function* pieces(fail: boolean): AsyncGenerator<Uint8Array, string> {
  yield Buffer.from("one ");
  if (fail) throw new Error("half way");
  yield Buffer.from("two");
  return "the result";
}

test("writeFileWhole replaces a file atomically with mode 0600; a failure leaves the old one and no temporary file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-files-"));
  const path = join(directory, "file");
  await writeFile(path, "old");

  await rejects(writeFileWhole(path, pieces(true)), /half way/);
  deepEqual([await readFile(path, "utf8"), await readdir(directory)], ["old", ["file"]]);

  equal(await writeFileWhole(path, pieces(false)), "the result");
  deepEqual([await readFile(path, "utf8"), await readdir(directory)], ["one two", ["file"]]);
  equal((await stat(path)).mode & 0o777, 0o600);
  await rm(directory, { recursive: true });
});

test("writeFileWhole replaces the file that a link points to, and keeps the link", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-files-"));
  const [file, link] = [join(directory, "file"), join(directory, "link")];
  await writeFile(file, "old");
  await symlink("file", link);

  await writeFileWhole(link, pieces(false));

  deepEqual([await readlink(link), await readFile(file, "utf8")], ["file", "one two"]);
  await rm(directory, { recursive: true });
});

test("writeFileWhole replaces no device, pipe or socket, and no link to one", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-files-"));
  const [socket, link] = [join(directory, "socket"), join(directory, "link")];
  const server = createServer().listen(socket);
  await once(server, "listening");
  await symlink("socket", link);

  for (const path of [socket, link])
    await rejects(writeFileWhole(path, pieces(false)), /it is a device, a pipe or a socket; choose a regular file/);

  deepEqual([(await stat(socket)).isSocket(), (await readdir(directory)).sort()], [true, ["link", "socket"]]);
  server.close();
  await rm(directory, { recursive: true });
});
