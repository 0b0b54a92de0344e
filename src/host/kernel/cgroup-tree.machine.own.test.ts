import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { needs } from "../../testing/needs.ts";
import { cgroupDirectories, cgroupProcesses, killCgroup, removeCgroup } from "./cgroup-tree.ts";
import { makeCgroup } from "./cgroups.ts";
import { realClock } from "../real-clock.ts";

test("a cgroup is found with the processes in it and below, killed, and removed when it is empty", { ...needs("containerd") }, async () => {
  const path = `/k8ts-tree-${process.pid}`;
  makeCgroup(path, {});
  makeCgroup(`${path}/inner`, {});
  const sleeper = spawn("sleep", ["1000"]);
  try {
    const [directory] = await cgroupDirectories(`${path}/inner`);
    await writeFile(`${directory}/cgroup.procs`, String(sleeper.pid));
    deepEqual(
      (await cgroupProcesses(path)).map(({ pid }) => pid),
      [sleeper.pid],
    );
    await rejects(removeCgroup(path), /Cannot remove the cgroup .*\/inner/);

    const ended = once(sleeper, "exit");
    await killCgroup(path, realClock);
    deepEqual(await ended, [null, "SIGKILL"]);
    await killCgroup(path, realClock);
  } finally {
    sleeper.kill("SIGKILL");
    await removeCgroup(path);
    await removeCgroup(path);
  }
  equal((await cgroupDirectories(path)).length, 0);
});

test("frozen processes of a cgroup are killed", { ...needs("containerd") }, async () => {
  const path = `/k8ts-frozen-${process.pid}`;
  makeCgroup(`${path}/inner`, {});
  const sleeper = spawn("sleep", ["1000"]);
  try {
    for (const directory of await cgroupDirectories(`${path}/inner`)) {
      await writeFile(`${directory}/cgroup.procs`, String(sleeper.pid));
      for (const [file, frozen] of [
        ["freezer.state", "FROZEN"],
        ["cgroup.freeze", "1"],
      ] as const)
        if (existsSync(`${directory}/${file}`)) await writeFile(`${directory}/${file}`, frozen);
    }
    const ended = once(sleeper, "exit");

    await killCgroup(path, realClock);

    deepEqual(await ended, [null, "SIGKILL"]);
  } finally {
    await removeCgroup(path);
  }
});

test("the root cgroup is refused", async () => {
  for (const path of ["/", "", "//", "/..", "/a/../.."])
    ok(
      await cgroupProcesses(path).then(
        () => false,
        () => true,
      ),
      path,
    );
});
