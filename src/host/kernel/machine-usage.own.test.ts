import { ok } from "node:assert/strict";
import { tmpdir, totalmem } from "node:os";
import { test } from "node:test";
import { diskUsage, machineUsage } from "./machine-usage.ts";

test("CPU and memory usage of the machine are read", async () => {
  const nowMs = Date.now();
  const usage = await machineUsage(nowMs);
  ok(usage.startedAtMs < nowMs);
  ok(usage.cpuNanoseconds > 0);
  ok(usage.memoryWorkingSetBytes > 0 && usage.memoryWorkingSetBytes <= usage.memoryUsageBytes);
  ok(usage.memoryAvailableBytes + usage.memoryWorkingSetBytes >= totalmem() / 2);
  ok(usage.processes.running > 0 && usage.processes.running < usage.processes.max);
});

test("CPU time is monotonic", async () => {
  const before = (await machineUsage(Date.now())).cpuNanoseconds;
  const endAt = performance.now() + 50;
  while (performance.now() < endAt);
  ok((await machineUsage(Date.now())).cpuNanoseconds > before);
});

test("disk usage is read", async () => {
  const { capacityBytes, usedBytes, availableBytes, inodes, inodesFree, inodesUsed } = await diskUsage(tmpdir());
  ok(usedBytes > 0 && usedBytes + availableBytes <= capacityBytes);
  ok(inodesFree + inodesUsed === inodes);
});
