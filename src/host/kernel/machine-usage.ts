/** Current resource usage of this machine, from the kernel's own counters. Unknown values are omitted. */
import { readFile, stat, statfs } from "node:fs/promises";
import { uptime } from "node:os";

export interface MachineUsage {
  readonly startedAtMs: number;
  /** Of all CPUs, since boot. */
  readonly cpuNanoseconds: number;
  readonly memoryAvailableBytes: number;
  readonly memoryUsageBytes: number;
  /** Without reclaimable memory. */
  readonly memoryWorkingSetBytes: number;
  /** Anonymous memory: not of files. */
  readonly memoryRssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  readonly network?: {
    readonly name: string;
    readonly rxBytes: number;
    readonly rxErrors: number;
    readonly txBytes: number;
    readonly txErrors: number;
  };
  readonly processes: { readonly running: number; readonly max: number };
}

export interface DiskUsage {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
}

/** The kernel counts CPU time in hundredths of a second, whatever its own clock is (USER_HZ). */
const TICK_NANOSECONDS = 10_000_000;

export async function machineUsage(nowMs: number): Promise<MachineUsage> {
  const [stat, memory, network, load, pidMax, faults] = await Promise.all(
    ["/proc/stat", "/proc/meminfo", "/proc/net/dev", "/proc/loadavg", "/proc/sys/kernel/pid_max", "/proc/vmstat"].map(textOf),
  );
  const outward = networkUsage(network ?? "", await outwardInterface());
  return {
    startedAtMs: nowMs - Math.floor(uptime() * 1_000),
    cpuNanoseconds: busyTicks(stat ?? "") * TICK_NANOSECONDS,
    ...memoryUsage(memory ?? ""),
    pageFaults: countOf(faults ?? "", "pgfault"),
    majorPageFaults: countOf(faults ?? "", "pgmajfault"),
    ...(outward === undefined ? {} : { network: outward }),
    processes: { running: Number(/ \d+\/(?<all>\d+) /.exec(load ?? "")?.groups?.["all"] ?? 0), max: Number(pidMax) },
  };
}

/** Whether two paths are on the same file system. */
export async function isSameFileSystem(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([stat(a), stat(b)]);
  return one.dev === other.dev;
}

export async function diskUsage(path: string): Promise<DiskUsage> {
  const { blocks, bavail, bfree, bsize, files, ffree } = await statfs(path);
  return {
    availableBytes: bavail * bsize,
    capacityBytes: blocks * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}

/** user nice system idle iowait irq softirq steal …: all but waiting. */
function busyTicks(stat: string): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (stat.split("\n")[0] ?? "").split(/\s+/).map(Number);
  return user + nice + system + irq + softirq + steal;
}

type MemoryUsage = Pick<MachineUsage, "memoryAvailableBytes" | "memoryUsageBytes" | "memoryWorkingSetBytes" | "memoryRssBytes">;

function memoryUsage(text: string): MemoryUsage {
  const bytesOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
  const total = bytesOf("MemTotal");
  const usage = total - bytesOf("MemFree");
  const workingSet = Math.max(0, usage - bytesOf("Inactive\\(file\\)"));
  return {
    memoryAvailableBytes: total - workingSet,
    memoryUsageBytes: usage,
    memoryWorkingSetBytes: workingSet,
    memoryRssBytes: bytesOf("AnonPages"),
  };
}

/** Of lines such as "pgfault 123". 0 if none exists. */
export function countOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

/** The interface with the default route. */
async function outwardInterface(): Promise<string | undefined> {
  const routes = (await textOf("/proc/net/route")).split("\n").slice(1);
  return routes.map((line) => line.split("\t")).find(([, destination]) => destination === "00000000")?.[0];
}

function networkUsage(text: string, name: string | undefined): MachineUsage["network"] {
  const line = name === undefined ? undefined : text.split("\n").find((candidate) => candidate.trim().startsWith(`${name}:`));
  if (name === undefined || line === undefined) return undefined;
  const numbers = line
    .slice(line.indexOf(":") + 1)
    .trim()
    .split(/\s+/)
    .map(Number);
  const [rxBytes = 0, , rxErrors = 0, , , , , , txBytes = 0, , txErrors = 0] = numbers;
  return { name, rxBytes, rxErrors, txBytes, txErrors };
}

async function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
