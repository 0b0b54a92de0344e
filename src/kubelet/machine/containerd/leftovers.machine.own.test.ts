import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcesses } from "../../../host/processes/process-table.ts";
import { signalProcess } from "../../../host/processes/detached-program.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { runCriPod } from "../../../testing/fixtures/cri-pod.ts";
import { needs } from "../../../testing/needs.ts";
import { leftovers, type Leftover } from "./leftovers.ts";

const NEEDS = needs("containerd", "cni", "busybox", "iptables");

async function kindsOf(containerd: TestContainerd): Promise<readonly string[]> {
  return [...new Set((await containerd.leftovers()).map(({ is }) => is))].sort();
}

const ALL_KINDS = ["cgroup", "file", "link", "mount", "network namespace", "process", "rule", "socket"];

/** State of the machine that belongs to a test, listed without the code under test. */
function traces({ directory, bridge, cgroupParent }: TestContainerd): readonly string[] {
  const processes = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const rules = execFileSync("iptables-save", { encoding: "utf8" }).split("\n");
  // One per controller, or the only one.
  const cgroups = ["", ...readdirSync("/sys/fs/cgroup")].map((controller) => join("/sys/fs/cgroup", controller, cgroupParent));
  return [
    ...processes.filter((line) => line.includes(directory)),
    ...mounts.filter((line) => line.includes(directory)),
    ...readdirSync("/sys/class/net").filter((name) => name === bridge),
    ...rules.filter((line) => line.includes(bridge)),
    ...cgroups.filter((path) => existsSync(path)),
    ...readdirSync("/tmp").filter((name) => name === basename(directory)),
  ];
}

describe("leftovers of Pods are listed and removed", { ...NEEDS }, () => {
  for (const { it, harm } of [
    { it: "while containerd runs", harm: async () => undefined },
    { it: "after containerd was killed", harm: (containerd: TestContainerd) => containerd.kill() },
    {
      it: "after containerd and all shims were killed, with only containers running",
      harm: async (containerd: TestContainerd) => {
        await containerd.kill();
        const socket = containerd.endpoint.replace("unix://", "");
        for (const shim of await findProcesses((words) => words.includes("-address") && words.includes(socket)))
          signalProcess(shim, "SIGKILL");
      },
    },
  ]) {
    test(it, async () => {
      const containerd = await startTestContainerd();
      await runCriPod(containerd, { name: "one", hostPort: { hostPort: 28_090, containerPort: 80 } });
      await runCriPod(containerd, { name: "two" });
      await harm(containerd);
      const [listed, found] = [await kindsOf(containerd), traces(containerd)];

      await containerd[Symbol.asyncDispose]();

      deepEqual(listed, ALL_KINDS);
      ok(found.length > 10);
      deepEqual(traces(containerd), []);
      deepEqual(await leftovers(containerd.places), []);
    });
  }
});

const SHIMS_GONE_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 20;

/**
 * Leftovers besides control groups once no shim is left: a shim acknowledges shutdown before its process ends, without an event for the
 * end.
 */
async function leftByPods(containerd: TestContainerd): Promise<readonly Leftover[]> {
  const untilMs = performance.now() + SHIMS_GONE_WITHIN_MS;
  for (;;) {
    const left = (await containerd.leftovers()).filter(({ is }) => is !== "cgroup");
    if (processesIn(left) <= 1 || performance.now() > untilMs) return left;
    await sleep(LOOK_EVERY_MS);
  }
}

function processesIn(left: readonly Leftover[]): number {
  return left.filter(({ is }) => is === "process").length;
}

test("deleted Pods leave nothing beside containerd and its network", { ...NEEDS }, async () => {
  await using containerd = await startTestContainerd();
  const pod = await runCriPod(containerd, { name: "first" });
  await pod.remove();
  const before = await leftByPods(containerd);
  for (const name of ["a", "b", "c"])
    await (await runCriPod(containerd, { name, hostPort: { hostPort: 28_091, containerPort: 80 } })).remove();

  deepEqual(await leftByPods(containerd), before);
  equal(processesIn(before), 1);
});

test("two clusters coexist, and removing one leaves the other untouched", { ...NEEDS }, async () => {
  await using stays = await startTestContainerd();
  const pod = await runCriPod(stays, { name: "stays" });
  {
    await using goes = await startTestContainerd();
    await runCriPod(goes, { name: "goes" });
  }

  equal(await pod.exec("hostname"), "stays\n");
  const other = await runCriPod(stays, { name: "other", command: ["sh", "-c", "nc -l -p 80 -e hostname"] });
  ok(other.ip !== "");
});
