/** The kernel's mount table: read each time and never cached, so that leftovers of killed processes are included. */
import { readFile, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

export interface MountEntry {
  readonly path: string;
  /** "overlay", "tmpfs", "nsfs" (a namespace that is kept by its mount), … */
  readonly fileSystem: string;
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

/** The lines of /proc/self/mountinfo: the place is the fifth word, the kind of file system the first after the dash. */
export function parseMounts(table: string): readonly MountEntry[] {
  return table.split("\n").flatMap((line) => {
    const words = line.split(" ");
    const [path, fileSystem] = [words[4], words[words.indexOf("-", 6) + 1]];
    return path === undefined || fileSystem === undefined ? [] : [{ path: unescaped(path), fileSystem }];
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
