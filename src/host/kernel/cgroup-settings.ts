/** The limits of a control group, and how often its CPU limit throttled it, from the kernel's files, of either version. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cgroupVersion, controllerDirectory, sharesOf, type CgroupVersion } from "./cgroups.ts";
import { countOf } from "./machine-usage.ts";

export interface CgroupSettings {
  /** On the scale of version 1: 1024 for one core. */
  readonly cpuShares?: number;
  /** Microseconds. */
  readonly cpuPeriod?: number;
  /** Microseconds of CPU time per period. Absent: unlimited. */
  readonly cpuQuota?: number;
  /** Only with a quota. */
  readonly throttling?: CpuThrottling;
  /** 0: unlimited. */
  readonly memoryLimitBytes: number;
  /** 0: none. */
  readonly memoryReservationBytes: number;
  /** 0: unlimited, or swap is not counted. */
  readonly memorySwapLimitBytes: number;
  readonly memoryCacheBytes: number;
  readonly memorySwapBytes: number;
}

export interface CpuThrottling {
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledSeconds: number;
}

/** Texts by file name; "" for a file that does not exist. */
export type CgroupTexts = Readonly<Record<string, string>>;

const FILES: Readonly<Record<CgroupVersion, Readonly<Record<"cpu" | "memory", readonly string[]>>>> = {
  1: {
    cpu: ["cpu.shares", "cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.stat"],
    memory: ["memory.limit_in_bytes", "memory.soft_limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.stat"],
  },
  2: {
    cpu: ["cpu.weight", "cpu.max", "cpu.stat"],
    memory: ["memory.max", "memory.low", "memory.swap.max", "memory.swap.current", "memory.stat"],
  },
};

/** `path` as the kernel names it. Undefined: it does not exist, or has no accounting. Never rejects: it may be removed at any time. */
export async function cgroupSettings(path: string): Promise<CgroupSettings | undefined> {
  const version = cgroupVersion();
  const directories = { cpu: controllerDirectory("cpu"), memory: controllerDirectory("memory") };
  const texts: Record<string, string> = {};
  const read = async (controller: "cpu" | "memory", name: string): Promise<void> => {
    const directory = directories[controller];
    texts[name] = directory === undefined ? "" : await readFile(join(directory, path, name), "utf8").catch(() => "");
  };
  const controllers = ["cpu", "memory"] as const;
  await Promise.all(controllers.flatMap((controller) => FILES[version][controller].map((name) => read(controller, name))));
  // Every group but the root has these.
  if (texts["memory.stat"] === "" && texts["cpu.stat"] === "") return undefined;
  return settingsOf(texts, version);
}

export function settingsOf(texts: CgroupTexts, version: CgroupVersion): CgroupSettings {
  return version === 1 ? settingsOfVersion1(texts) : settingsOfVersion2(texts);
}

function settingsOfVersion1(texts: CgroupTexts): CgroupSettings {
  const quota = numberOf(texts["cpu.cfs_quota_us"]);
  const stat = texts["cpu.stat"] ?? "";
  return {
    ...defined({ cpuShares: numberOf(texts["cpu.shares"]), cpuPeriod: numberOf(texts["cpu.cfs_period_us"]) }),
    ...(quota === undefined || quota <= 0
      ? {}
      : { cpuQuota: quota, throttling: throttlingOf(stat, countOf(stat, "throttled_time") / NANOSECONDS) }),
    memoryLimitBytes: limitOf(texts["memory.limit_in_bytes"]),
    memoryReservationBytes: limitOf(texts["memory.soft_limit_in_bytes"]),
    memorySwapLimitBytes: limitOf(texts["memory.memsw.limit_in_bytes"]),
    memoryCacheBytes: countOf(texts["memory.stat"] ?? "", "total_cache"),
    memorySwapBytes: countOf(texts["memory.stat"] ?? "", "total_swap"),
  };
}

function settingsOfVersion2(texts: CgroupTexts): CgroupSettings {
  const [quotaText, periodText] = (texts["cpu.max"] ?? "").trim().split(" ");
  const [quota, weight] = [numberOf(quotaText), numberOf(texts["cpu.weight"])];
  const stat = texts["cpu.stat"] ?? "";
  return {
    ...defined({ cpuShares: weight === undefined ? undefined : sharesOf(weight), cpuPeriod: numberOf(periodText) }),
    ...(quota === undefined ? {} : { cpuQuota: quota, throttling: throttlingOf(stat, countOf(stat, "throttled_usec") / MICROSECONDS) }),
    memoryLimitBytes: limitOf(texts["memory.max"]),
    memoryReservationBytes: limitOf(texts["memory.low"]),
    memorySwapLimitBytes: limitOf(texts["memory.swap.max"]),
    memoryCacheBytes: countOf(texts["memory.stat"] ?? "", "file"),
    memorySwapBytes: numberOf(texts["memory.swap.current"]) ?? 0,
  };
}

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** Version 1 has a number close to 2^63 instead of "max". As cAdvisor, more than this is unlimited. */
const UNLIMITED_BYTES = 2 ** 62;

function throttlingOf(stat: string, throttledSeconds: number): CpuThrottling {
  return { periods: countOf(stat, "nr_periods"), throttledPeriods: countOf(stat, "nr_throttled"), throttledSeconds };
}

function limitOf(text: string | undefined): number {
  const limit = numberOf(text) ?? 0;
  return limit > UNLIMITED_BYTES ? 0 : limit;
}

/** Undefined for "max" and "". */
function numberOf(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

function defined<T extends object>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
