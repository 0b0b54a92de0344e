/**
 * Control groups by their path, whichever version the machine has: with version 1 every controller has a tree of its own with the same
 * paths, with version 2 there is one. For ending and removing what is in them. Not here: their limits.
 */
import { open, readdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { fewAtATime } from "../files/limited-concurrency.ts";
import { killProcesses } from "../processes/detached-program.ts";
import { processMark, type ProcessMark } from "../processes/process-identity.ts";

const ROOT = "/sys/fs/cgroup";

/** The directories that a path of a control group has on this machine. */
export async function cgroupDirectories(path: string): Promise<readonly string[]> {
  // All processes of the machine are in the root, and what is asked for here is mostly ended.
  assert(/^\/[^/.]/.test(path) && !path.includes(".."), "a cgroup is a path below the root");
  const candidates = (await cgroupRoots()).map((root) => join(root, path));
  const present = await Promise.all(candidates.map(isDirectory));
  return candidates.filter((_, index) => present[index]);
}

async function cgroupRoots(): Promise<readonly string[]> {
  const names = await readdir(ROOT, { withFileTypes: true }).catch(() => []);
  if (names.some(({ name }) => name === "cgroup.controllers")) return [ROOT];
  // Links such as "cpu,cpuacct" resolve to hierarchies that are in the list already.
  return names.filter((entry) => entry.isDirectory()).map(({ name }) => join(ROOT, name));
}

/** The processes in it and in all groups below. */
export async function cgroupProcesses(path: string): Promise<readonly ProcessMark[]> {
  const directories = (await Promise.all((await cgroupDirectories(path)).map(withChildren))).flat();
  const lists = await fewAtATime(directories, (directory) => readFile(join(directory, "cgroup.procs"), "utf8").catch(() => ""));
  const pids = new Set(lists.flatMap((list) => list.split("\n").filter((line) => line !== "" && line !== "0")));
  return [...pids].map((pid) => processMark(Number(pid))).filter(({ started }) => started !== "");
}

/** Processes that fork faster than they are killed are given up after this many rounds; the caller retries later. */
const KILL_ROUNDS_MAX = 100;

/** Kills what is in it and below. Until nothing is: what is just being started appears only after its parent was found. */
export async function killCgroup(path: string, clock: Clock): Promise<void> {
  for (let round = 1; round <= KILL_ROUNDS_MAX; round++) {
    const processes = await cgroupProcesses(path);
    if (processes.length === 0) return;
    await thawCgroup(path);
    await killProcesses(processes, clock);
  }
  throw new Error(`Cannot kill the processes in cgroup ${path}: new ones appeared in each of ${KILL_ROUNDS_MAX} rounds of SIGKILL`);
}

/** Thaws frozen processes in it and below: with cgroup v1 they could not be killed. */
export async function thawCgroup(path: string): Promise<void> {
  const directories = (await Promise.all((await cgroupDirectories(path)).map(withChildren))).flat();
  for (const directory of directories) {
    for (const [file, thawed] of THAWED) await writeIfThere(join(directory, file), thawed);
  }
}

/** Of version 1 and of version 2. */
const THAWED = [
  ["freezer.state", "THAWED"],
  ["cgroup.freeze", "0"],
] as const;

/** The kernel makes these files; a group that has none, or that is gone, has nothing to thaw. */
async function writeIfThere(file: string, text: string): Promise<void> {
  await using handle = await open(file, "r+").catch(() => undefined);
  await handle?.writeFile(text);
}

/** With all groups below. Nothing may run in it any more; one that is not there is fine. */
export async function removeCgroup(path: string): Promise<void> {
  for (const directory of await cgroupDirectories(path)) {
    for (const child of (await withChildren(directory)).toReversed()) {
      await rmdir(child).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw new Error(`Cannot remove the cgroup ${child}: ${error.message}`, { cause: error });
      });
    }
  }
}

/** Itself, then those below, parents before children. */
async function withChildren(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const children = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
  return [directory, ...(await Promise.all(children.map(withChildren))).flat()];
}

async function isDirectory(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  );
}
