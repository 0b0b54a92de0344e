import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { cgroupUsage, usageOf } from "./cgroup-usage.ts";

const EXPECTED = {
  cpuNanoseconds: 5_000_000,
  memoryUsageBytes: 4_000,
  memoryWorkingSetBytes: 3_000,
  memoryRssBytes: 2_500,
  pageFaults: 70,
  majorPageFaults: 3,
};

test("cgroup v1 usage includes all cgroups below", () => {
  const memoryStat =
    "rss 1\ninactive_file 1\npgfault 1\ntotal_rss 2500\ntotal_rss_huge 9\ntotal_pgfault 70\ntotal_pgmajfault 3\ntotal_inactive_file 1000\n";
  deepEqual(usageOf({ cpu: "5000000\n", memory: "4000\n", memoryStat }, 1), EXPECTED);
});

test("cgroup v2 usage is the same", () => {
  const memoryStat = "anon 2500\nfile 9\ninactive_anon 8\ninactive_file 1000\npgfault 70\npgmajfault 3\n";
  deepEqual(usageOf({ cpu: "usage_usec 5000\nuser_usec 1\n", memory: "4000\n", memoryStat }, 2), EXPECTED);
});

test("the working set is never negative, even if inactive memory exceeds usage for an instant", () => {
  equal(usageOf({ cpu: "0", memory: "10", memoryStat: "total_inactive_file 11\n" }, 1).memoryWorkingSetBytes, 0);
});

test("a missing cgroup has no usage, and that of the root is the machine's", { skip: process.platform !== "linux" }, async () => {
  equal(await cgroupUsage("/k8ts-there-is-no-such-group"), undefined);
  const root = await cgroupUsage("/");
  ok(root === undefined || root.cpuNanoseconds > 0);
});
