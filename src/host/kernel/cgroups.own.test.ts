import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cgroupDirectories, removeCgroup } from "./cgroup-tree.ts";
import { cgroupVersion, makeCgroup, weightOf } from "./cgroups.ts";

const ROOT = `/k8ts-test-${process.pid}`;
const skip = mayMake() ? false : "needs the right to make control groups";

function mayMake(): boolean {
  try {
    makeCgroup(ROOT, {});
    return true;
  } catch {
    return false;
  }
}

test("a cgroup is created with its limits and its parents, and removed", { skip }, async () => {
  try {
    makeCgroup(`${ROOT}/burstable/pod1`, { cpuShares: 512, cpuPeriod: 100_000, cpuQuota: 50_000, memoryLimitBytes: 64 << 20 });
    ok((await cgroupDirectories(`${ROOT}/burstable/pod1`)).length > 0);
    if (cgroupVersion() === 1) {
      equal(readFileSync(`/sys/fs/cgroup/cpu${ROOT}/burstable/pod1/cpu.shares`, "utf8").trim(), "512");
      equal(readFileSync(`/sys/fs/cgroup/memory${ROOT}/burstable/pod1/memory.limit_in_bytes`, "utf8").trim(), String(64 << 20));
      ok(readFileSync(`/sys/fs/cgroup/cpuset${ROOT}/burstable/pod1/cpuset.cpus`, "utf8").trim() !== "");
    } else {
      equal(readFileSync(`/sys/fs/cgroup${ROOT}/burstable/pod1/cpu.max`, "utf8").trim(), "50000 100000");
    }
    // Once more, as after a restart.
    makeCgroup(`${ROOT}/burstable/pod1`, { cpuShares: 512 });
  } finally {
    await removeCgroup(ROOT);
  }
  deepEqual(await cgroupDirectories(ROOT), []);
});

test("shares become weights as container runtimes convert them", () => {
  for (const [shares, weight] of [
    [2, 1],
    [1024, 39],
    [262_144, 10_000],
    [1, 1],
  ] as const)
    equal(weightOf(shares), weight);
});
