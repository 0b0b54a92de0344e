import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { cgroupSettings, settingsOf } from "./cgroup-settings.ts";
import { sharesOf, weightOf } from "./cgroups.ts";

const LIMITED = {
  cpuShares: 1_024,
  cpuPeriod: 100_000,
  cpuQuota: 50_000,
  throttling: { periods: 10, throttledPeriods: 4, throttledSeconds: 1.5 },
  memoryLimitBytes: 1_000_000,
  memoryReservationBytes: 0,
  memorySwapLimitBytes: 0,
  memoryCacheBytes: 700,
  memorySwapBytes: 30,
};

test("cgroup v1 settings and throttling are read from the files of each controller", () => {
  const texts = {
    "cpu.shares": "1024\n",
    "cpu.cfs_period_us": "100000\n",
    "cpu.cfs_quota_us": "50000\n",
    "cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
    "memory.limit_in_bytes": "1000000\n",
    "memory.soft_limit_in_bytes": "9223372036854771712\n",
    "memory.memsw.limit_in_bytes": "",
    "memory.stat": "cache 1\ntotal_cache 700\ntotal_swap 30\n",
  };
  deepEqual(settingsOf(texts, 1), LIMITED);
});

test("cgroup v2 settings and throttling are the same", () => {
  const texts = {
    "cpu.weight": `${weightOf(1_024)}\n`,
    "cpu.max": "50000 100000\n",
    "cpu.stat": "usage_usec 7\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n",
    "memory.max": "1000000\n",
    "memory.low": "0\n",
    "memory.swap.max": "max\n",
    "memory.swap.current": "30\n",
    "memory.stat": "anon 5\nfile 700\nfile_mapped 3\n",
  };
  deepEqual(settingsOf(texts, 2), { ...LIMITED, cpuShares: sharesOf(weightOf(1_024)) });
});

test("a cgroup without a CPU limit has no quota and no throttling", () => {
  const one = settingsOf({ "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "-1", "cpu.stat": "nr_periods 0\n" }, 1);
  const two = settingsOf({ "cpu.max": "max 100000", "cpu.stat": "nr_periods 0\n" }, 2);

  deepEqual([one.cpuQuota, one.throttling, one.cpuPeriod], [undefined, undefined, 100_000]);
  deepEqual([two.cpuQuota, two.throttling, two.cpuPeriod], [undefined, undefined, 100_000]);
});

test("a missing cgroup has no settings, and reading one that exists does not fail", { skip: process.platform !== "linux" }, async () => {
  equal(await cgroupSettings("/k8ts-there-is-no-such-group"), undefined);
  const root = await cgroupSettings("/");
  ok(root === undefined || root.memoryLimitBytes >= 0);
});
