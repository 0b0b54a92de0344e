/** What a control group and all below it use, from the kernel's own counters, of either version. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cgroupVersion, controllerDirectory, type CgroupVersion } from "./cgroups.ts";
import { countOf } from "./machine-usage.ts";

export interface CgroupUsage {
  /** Since the group was created. */
  readonly cpuNanoseconds: number;
  readonly memoryUsageBytes: number;
  /** Without reclaimable memory. */
  readonly memoryWorkingSetBytes: number;
  readonly memoryRssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

/** As read from their files. */
export interface CgroupFiles {
  /** cpuacct.usage, or cpu.stat. */
  readonly cpu: string;
  /** memory.usage_in_bytes, or memory.current. */
  readonly memory: string;
  /** memory.stat. */
  readonly memoryStat: string;
}

/** `path` as the kernel names it: "/k8-x/kubepods". Undefined: it does not exist, or has no accounting. */
export async function cgroupUsage(path: string): Promise<CgroupUsage | undefined> {
  const version = cgroupVersion();
  const [cpu, memory] = [controllerDirectory("cpuacct"), controllerDirectory("memory")];
  if (cpu === undefined || memory === undefined) return undefined;
  const names = version === 2 ? ["cpu.stat", "memory.current"] : ["cpuacct.usage", "memory.usage_in_bytes"];
  try {
    const [cpuText = "", memoryText = "", memoryStat = ""] = await Promise.all(
      [join(cpu, path, names[0] ?? ""), join(memory, path, names[1] ?? ""), join(memory, path, "memory.stat")].map((file) =>
        readFile(file, "utf8"),
      ),
    );
    return usageOf({ cpu: cpuText, memory: memoryText, memoryStat }, version);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENODEV: it is being removed.
    if (code === "ENOENT" || code === "ENODEV") return undefined;
    throw error;
  }
}

const NANOSECONDS_PER_MICROSECOND = 1_000;

/** Version 1 counts a group alone and, as total_…, with all below it; version 2 always with all below. */
export function usageOf({ cpu, memory, memoryStat }: CgroupFiles, version: CgroupVersion): CgroupUsage {
  const count = (name: string): number => countOf(memoryStat, version === 1 ? `total_${name}` : name);
  const usage = Number(memory);
  return {
    cpuNanoseconds: version === 1 ? Number(cpu) : countOf(cpu, "usage_usec") * NANOSECONDS_PER_MICROSECOND,
    memoryUsageBytes: usage,
    memoryWorkingSetBytes: Math.max(0, usage - count("inactive_file")),
    memoryRssBytes: count(version === 1 ? "rss" : "anon"),
    pageFaults: count("pgfault"),
    majorPageFaults: count("pgmajfault"),
  };
}
