import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { NodeUsage } from "./node-usage.ts";

test("the CPU counter of a simulated node keeps the time of containers that exited, and adds that of the operating system", () => {
  const usage = new NodeUsage();
  const container = (id: string, seconds: number) => ({ id, name: id, cpuNanoseconds: seconds * 1e9, memoryWorkingSetBytes: 1 << 20 });

  const seconds = [
    usage.at(0, [container("a", 5)]),
    usage.at(20_000, [container("a", 15), container("b", 1)]),
    usage.at(40_000, [container("b", 2)]),
    usage.at(60_000, []),
  ].map(({ cpuNanoseconds, memoryWorkingSetBytes }) => [cpuNanoseconds / 1e9, memoryWorkingSetBytes / (1 << 20)]);

  deepEqual(seconds, [
    [5, 257],
    [17, 258],
    [19, 257],
    [20, 256],
  ]);
});
