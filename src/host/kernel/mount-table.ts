/** The kernel's mount table: read each time and never cached, so that leftovers of killed processes are included. */
import { readFile, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

export interface MountEntry {
  readonly path: string;
  /** "overlay", "tmpfs", "nsfs" (a namespace that is kept by its mount), … */
  readonly fileSystem: string;
  readonly id: string;
  /** `id` of the mount that it is in. */
  readonly parentId: string;
  /** Number of the device: "254:0". */
  readonly device: string;
  /** Which directory of the file system is mounted. */
  readonly root: string;
  /** Whether mounts below it propagate to its peers, such as containers with mountPropagation. */
  readonly isShared: boolean;
}

/** Mounts at or below `directory`, in mount order. None on systems without /proc. */
export async function mountsUnder(directory: string): Promise<readonly MountEntry[]> {
  return (await mountTable()).filter(({ path }) => path === directory || path.startsWith(`${directory}/`));
}

/**
 * All mounts. Rejects if the table exists and cannot be read (too many open files): a caller that takes this for "no mounts" deletes the
 * contents of a volume.
 */
export async function mountTable(): Promise<readonly MountEntry[]> {
  const table = await readFile("/proc/self/mountinfo", "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw new Error("Cannot read the mount table /proc/self/mountinfo", { cause: error });
    return "";
  });
  return parseMounts(table);
}

/** True if something is mounted exactly at this path, bind mounts included. */
export async function isMountedAt(path: string): Promise<boolean> {
  return (await mountTable()).some((entry) => entry.path === path);
}

/** The lines of /proc/self/mountinfo: six fixed words, optional ones such as "shared:2", a dash, and the kind of file system. */
export function parseMounts(table: string): readonly MountEntry[] {
  return table.split("\n").flatMap((line) => {
    const words = line.split(" ");
    const [id = "", parentId = "", device = "", root = "", path] = words;
    const dash = words.indexOf("-", 6);
    const fileSystem = words[dash + 1];
    if (path === undefined || fileSystem === undefined) return [];
    const isShared = words.slice(6, dash).some((word) => word.startsWith("shared:"));
    return [{ path: unescaped(path), fileSystem, id, parentId, device, root: unescaped(root), isShared }];
  });
}

/** The kernel escapes blanks and the like as octal bytes; the decoded path is UTF-8. */
function unescaped(path: string): string {
  return path.replace(/(?:\\[0-7]{3})+/g, (codes) => {
    const bytes = codes
      .split("\\")
      .slice(1)
      .map((code) => Number.parseInt(code, 8));
    return Buffer.from(bytes).toString("utf8");
  });
}

/** True if it is a mount point. A bind mount of the same file system is not detected. */
export async function beginsFileSystem(path: string): Promise<boolean> {
  const [own, parent] = await Promise.all([stat(path), stat(dirname(path))]);
  return own.dev !== parent.dev;
}

/** True if a directory is on an overlay, as the root of a container mostly is. */
export async function isOnOverlay(directory: string): Promise<boolean> {
  return (await statfs(directory)).type === OVERLAY_MAGIC;
}

/** The kernel's number of that file system. */
const OVERLAY_MAGIC = 0x794c7630;
