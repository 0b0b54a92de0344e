import { equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { unlinkSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { lockDirectory } from "./directory-lock.ts";

test("of concurrent attempts exactly one gets the lock, by whatever path of the directory", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-lock-"));
  const other = `${directory}-link`;
  await symlink(directory, other);
  for (let round = 0; round < 5; round++) {
    const attempts = await Promise.all(Array.from({ length: 8 }, (_, index) => lockDirectory(index % 2 === 0 ? directory : other)));
    const locks = attempts.flatMap((attempt) => ("lock" in attempt ? [attempt.lock] : []));
    equal(locks.length, 1);
    await locks[0]?.release();
  }
  equal((await readdir(directory)).length, 0, "a released lock leaves nothing behind");
  await rm(other);
  await rm(directory, { recursive: true });
});

test("a directory that was abandoned, or whose holder died, is reported as unclean until it is released", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-lock-"));
  const take = async () => {
    const attempt = await lockDirectory(directory);
    ok("lock" in attempt);
    return attempt.lock;
  };

  const first = await take();
  equal(first.wasAbandoned, false);
  await first.abandon();
  const second = await take();
  equal(second.wasAbandoned, true);
  await second.release();
  equal((await readdir(directory)).length, 0, "a released lock leaves nothing behind");

  // No process has this PID; the file is a leftover of a killed one.
  await writeFile(join(directory, "holder"), JSON.stringify({ pid: 2 ** 30, command: "node", started: "1" }));
  const third = await take();
  equal(third.wasAbandoned, true);
  await third.release();
  const fourth = await take();
  equal(fourth.wasAbandoned, false);
  await fourth.release();
  await rm(directory, { recursive: true });
});

test(
  "a holder that releases the lock while another process tries, and stays alive, is not reported as the holder",
  { skip: process.platform !== "linux" },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "k8ts-lock-"));
    const holder = join(directory, "holder");
    // The process that runs the tests stays alive.
    const started = (await readFile(`/proc/${process.ppid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ")[19];
    await writeFile(holder, JSON.stringify({ pid: process.ppid, command: "node", started }));
    ok("heldBy" in (await lockDirectory(directory)), "while it says so it holds the directory");

    const trying = lockDirectory(directory);
    unlinkSync(holder);

    const attempt = await trying;
    ok("lock" in attempt);
    await attempt.lock.release();
    await rm(directory, { recursive: true });
  },
);

test("a dead holder holds nothing, even as a zombie", { skip: process.platform !== "linux" }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-lock-"));
  // The shell execs a program that does not wait for its children.
  const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec cat"], { stdio: ["pipe", "pipe", "ignore"] });
  try {
    const [line] = (await once(createInterface(parent.stdout), "line")) as [string];
    const statOf = async () => (await readFile(`/proc/${line}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
    const started = (await statOf())[19];
    process.kill(Number(line), "SIGKILL");
    while ((await statOf())[0] !== "Z") await setImmediate();
    await writeFile(join(directory, "holder"), JSON.stringify({ pid: Number(line), command: "node", started }));

    const attempt = await lockDirectory(directory);

    ok("lock" in attempt, JSON.stringify(attempt));
    equal(attempt.lock.wasAbandoned, true);
    await attempt.lock.release();
  } finally {
    parent.kill("SIGKILL");
    await rm(directory, { recursive: true });
  }
});

test("the lock is released whatever happened to the holder file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-lock-"));
  const holder = join(directory, "holder");
  const owners = new Set<number>();
  const take = async () => {
    const attempt = await lockDirectory(directory);
    ok("lock" in attempt, `it must be free, and is held by ${JSON.stringify(attempt)}`);
    owners.add(attempt.lock.owner);
    return attempt.lock;
  };

  const first = await take();
  await unlink(holder);
  await first.release();
  const second = await take();
  await unlink(holder);
  await second.abandon();
  const third = await take();
  equal(third.wasAbandoned, true);

  for (const way of ["release", "abandon"] as const) {
    const lock = way === "release" ? third : await take();
    await unlink(holder);
    await mkdir(holder);
    await rejects(lock[way]());
    await rmdir(holder);
  }
  await (await take()).release();
  equal(owners.size, 5, "each holder has a number of its own");
  await rm(directory, { recursive: true });
});

test("a new holder is named although its holder file is written later", { skip: process.platform !== "linux" }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-lock-"));
  const file = join(directory, "holder");
  const held = await lockDirectory(directory);
  ok("lock" in held);
  const note = await readFile(file, "utf8");

  for (const before of ["", JSON.stringify({ pid: 2 ** 30, command: "dead", started: "1" })]) {
    await writeFile(file, before);
    const attempt = lockDirectory(directory);
    await setImmediate();
    // Immediately: the attempt reads for a tenth of a second only, and a busy disk could take longer.
    writeFileSync(file, note);
    const { heldBy } = (await attempt) as { readonly heldBy: string };
    ok(heldBy.startsWith(`process ${process.pid} (`), heldBy);
  }
  await unlink(file);
  equal(((await lockDirectory(directory)) as { readonly heldBy: string }).heldBy, "another process");
  await held.lock.release();
  await rm(directory, { recursive: true });
});

test("two directories have two locks", async () => {
  const directories = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "k8ts-lock-"))));
  const attempts = await Promise.all(directories.map(lockDirectory));
  for (const attempt of attempts) {
    ok("lock" in attempt);
    await attempt.lock.release();
  }
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true })));
});
