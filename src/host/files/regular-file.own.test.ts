import { deepEqual, equal, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readRegularTail } from "./files.ts";
import { fileState, gzipFile, openGrowingFile, openPackedFile } from "./log-files.ts";
import { openWithin } from "./open-within.ts";
import { NotRegularFileError, openHeldFile } from "./regular-file.ts";

describe("in a directory that other users can write to", () => {
  let root = "";
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "k8ts-regular-"));
    await mkdir(join(root, "pod", "container"), { recursive: true });
    await writeFile(join(root, "secret"), "the secret\n");
    await writeFile(join(root, "pod", "container", "0.log"), "hello\n");
    await symlink(join(root, "secret"), join(root, "pod", "container", "link.log"));
    await symlink(join(root, "pod", "container"), join(root, "pod", "linked"));
    execFileSync("mkfifo", [join(root, "pod", "container", "fifo.log")]);
  });
  after(() => rm(root, { recursive: true }));

  const inside = (name: string) => join(root, "pod", "container", name);

  test("a regular file is read", async () => {
    await using file = await openGrowingFile(inside("0.log"));
    equal(new TextDecoder().decode(await file?.read(0)), "hello\n");
    equal(String(await readRegularTail(inside("0.log"), 3)), "lo\n");
    equal(await openGrowingFile(inside("none.log")), undefined);
  });

  for (const { it, name } of [
    { it: "a symbolic link", name: "link.log" },
    { it: "a FIFO", name: "fifo.log" },
    { it: "a directory", name: "" },
    { it: "a file in a directory that is a link", name: "../linked/0.log" },
  ]) {
    test(`${it} is not read as a log, compressed or not, and is not compressed`, async () => {
      const path = name.startsWith("..") ? join(root, "pod", "linked", "0.log") : inside(name);
      await rejects(openGrowingFile(path), NotRegularFileError);
      await rejects(openPackedFile(path), NotRegularFileError);
      await rejects(gzipFile(path, inside("out.gz")), NotRegularFileError);
      equal(await fileState(inside("out.gz")), undefined);
    });
  }

  for (const device of ["/dev/zero", "/dev/full"])
    test(`the device ${device} is not read`, () => rejects(readRegularTail(device, 10), NotRegularFileError));

  test("a socket is not read", async () => {
    const server = createServer().listen(inside("socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    await rejects(readRegularTail(inside("socket"), 10), NotRegularFileError);
    server.close();
  });

  test("a termination message that became a link is not read", () => rejects(readRegularTail(inside("link.log"), 10), NotRegularFileError));

  test("compression does not write through a planted link", async () => {
    await symlink(join(root, "secret"), inside("trap.tmp"));
    await rejects(gzipFile(inside("0.log"), inside("trap.tmp")), { code: "EEXIST" });
    equal(String(await readRegularTail(join(root, "secret"), 100)), "the secret\n");
  });

  test("a log that is rotated while it is opened is still read", async () => {
    await writeFile(inside("1.log"), "first\n");
    await using file = await openGrowingFile(inside("1.log"));
    await rename(inside("1.log"), inside("1.log.20260101-000000"));
    equal(new TextDecoder().decode(await file?.read(0)), "first\n");
  });

  test("a file opened with O_PATH is read, and a FIFO is not", async () => {
    await using place = await openWithin(root, "pod/container/0.log");
    await using file = await openHeldFile(place, "0.log");
    equal(await file.readFile("utf8"), "hello\n");
    await using fifo = await openWithin(root, "pod/container/fifo.log");
    await rejects(openHeldFile(fifo, "fifo.log"), NotRegularFileError);
  });

  test("a link has its own identity, so that a log that became one counts as replaced", async () => {
    const [link, secret] = [await fileState(inside("link.log")), await fileState(join(root, "secret"))];
    deepEqual(link?.identity === secret?.identity, false);
  });
});
