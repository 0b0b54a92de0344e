/**
 * Control groups with limits, of whichever version the machine's kernel mounts. A group is one path, which on version 1 is a directory
 * under each controller. All at once and not in turns: the kernel answers each call from memory, in less time than a turn takes, and a Pod
 * has dozens of them. Not here: what runs in them, and removing them (cgroup-tree.ts).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type CgroupVersion = 1 | 2;

const MOUNT = "/sys/fs/cgroup";

export function cgroupVersion(): CgroupVersion {
  return existsSync(join(MOUNT, "cgroup.controllers")) ? 2 : 1;
}

/** Of version 1: where its controllers are mounted; links among them ("cpu" for "cpu,cpuacct") are left out. */
function hierarchies(): readonly string[] {
  if (cgroupVersion() === 2) return [MOUNT];
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  return mounts.flatMap((line) => {
    const [, path = "", type = ""] = line.split(" ");
    return type === "cgroup" ? [path] : [];
  });
}

export interface CgroupLimits {
  readonly cpuShares?: number;
  readonly cpuQuota?: number;
  readonly cpuPeriod?: number;
  readonly memoryLimitBytes?: number;
}

/** Created if missing, with these limits; others are not changed. */
export function makeCgroup(path: string, limits: CgroupLimits): void {
  if (cgroupVersion() === 2) return makeUnified(path, limits);
  for (const root of hierarchies()) makeInherited(root, path);
  for (const [controller, file, value] of filesOfVersion1(limits)) {
    const directory = controllerDirectory(controller);
    if (directory !== undefined) writeFileSync(join(directory, path, file), value);
  }
}

/** cgroup v1: a cpuset starts empty, and accepts no process until it has CPUs. */
function makeInherited(root: string, path: string): void {
  let current = root;
  for (const segment of path.split("/").filter((part) => part !== "")) {
    const parent = current;
    current = join(current, segment);
    if (!makeDirectory(current)) continue;
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      if (!existsSync(join(parent, file)) || readFileSync(join(current, file), "utf8").trim() !== "") continue;
      writeFileSync(join(current, file), readFileSync(join(parent, file)));
    }
  }
}

/** True if it did not exist before. */
function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function filesOfVersion1({ cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes }: CgroupLimits): [string, string, string][] {
  return [
    ...(cpuShares === undefined ? [] : [["cpu", "cpu.shares", String(cpuShares)] as [string, string, string]]),
    ...(cpuPeriod === undefined ? [] : [["cpu", "cpu.cfs_period_us", String(cpuPeriod)] as [string, string, string]]),
    ...(cpuQuota === undefined ? [] : [["cpu", "cpu.cfs_quota_us", String(cpuQuota)] as [string, string, string]]),
    ...(memoryLimitBytes === undefined ? [] : [["memory", "memory.limit_in_bytes", String(memoryLimitBytes)] as [string, string, string]]),
  ];
}

/** Directory of a controller's cgroups. Undefined: this machine has none. */
export function controllerDirectory(controller: string): string | undefined {
  if (cgroupVersion() === 2) return MOUNT;
  return hierarchies().find((path) =>
    path
      .slice(path.lastIndexOf("/") + 1)
      .split(",")
      .includes(controller),
  );
}

function makeUnified(path: string, { cpuShares, cpuQuota, cpuPeriod = 100_000, memoryLimitBytes }: CgroupLimits): void {
  let current = MOUNT;
  for (const segment of path.split("/").filter((part) => part !== "")) {
    hand(current);
    current = join(current, segment);
    makeDirectory(current);
  }
  if (cpuShares !== undefined) writeFileSync(join(current, "cpu.weight"), String(weightOf(cpuShares)));
  if (cpuQuota !== undefined) writeFileSync(join(current, "cpu.max"), `${cpuQuota <= 0 ? "max" : cpuQuota} ${cpuPeriod}`);
  if (memoryLimitBytes !== undefined) writeFileSync(join(current, "memory.max"), memoryLimitBytes <= 0 ? "max" : String(memoryLimitBytes));
}

/** cgroup v2: a cgroup has only the controllers that its parent enables; not every kernel has all. */
function hand(directory: string): void {
  const control = join(directory, "cgroup.subtree_control");
  try {
    writeFileSync(control, "+cpu +memory +pids +cpuset +io");
  } catch {
    writeFileSync(control, "+cpu +memory +pids");
  }
}

const SHARES_MIN = 2;
const SHARES_MAX = 262_144;
const WEIGHT_MAX = 10_000;

/** Shares of version 1 on the scale of version 2, as container runtimes convert them. */
export function weightOf(cpuShares: number): number {
  const shares = Math.min(SHARES_MAX, Math.max(SHARES_MIN, cpuShares));
  return Math.floor(1 + ((shares - SHARES_MIN) * (WEIGHT_MAX - 1)) / (SHARES_MAX - SHARES_MIN));
}

/** The inverse, as cAdvisor computes it: rounded down. */
export function sharesOf(weight: number): number {
  return SHARES_MIN + Math.floor(((weight - 1) * (SHARES_MAX - SHARES_MIN)) / (WEIGHT_MAX - 1));
}
