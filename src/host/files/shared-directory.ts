/** Directories and files that other users can access: created with exact modes, given to groups, classified, removed. */
import { constants, type Stats } from "node:fs";
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  opendir,
  open,
  readdir,
  readlink,
  realpath,
  rm,
  rmdir,
  stat,
  symlink,
  unlink,
} from "node:fs/promises";
import { dirname } from "node:path";
import { runProgram } from "../processes/child-process.ts";
import { mountsUnder } from "../kernel/mount-table.ts";

export type FileKind = "directory" | "file" | "socket" | "character-device" | "block-device" | "other";

/** Links are followed. Undefined if it does not exist or is not accessible. */
export async function fileKind(path: string): Promise<FileKind | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? undefined : kindOf(found);
}

function kindOf(found: Stats): FileKind {
  if (found.isDirectory()) return "directory";
  if (found.isFile()) return "file";
  if (found.isSocket()) return "socket";
  if (found.isCharacterDevice()) return "character-device";
  return found.isBlockDevice() ? "block-device" : "other";
}

/** Mode; links are followed. */
export async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o7777;
}

/** Creates missing directories of the path with this mode. Existing ones keep theirs. */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
    await chmod(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectories(dirname(path), mode);
    await makeDirectories(path, mode);
  }
}

/** The path with all links resolved. */
export async function realPathOf(path: string): Promise<string> {
  return realpath(path);
}

/** Creates an empty file. What exists is unchanged and not opened: a FIFO would block, and a link could point anywhere. */
export async function touchFile(path: string, mode: number): Promise<void> {
  try {
    await (await open(path, "wx", mode)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Group and mode; links are followed. Undefined if it does not exist. */
export async function rightsOf(path: string): Promise<{ readonly groupId: number; readonly mode: number } | undefined> {
  const found = await stat(path).catch(ifMissing);
  return found && { groupId: found.gid, mode: found.mode & 0o7777 };
}

/** Removes an empty directory, an empty file or a link; a missing one is fine. Anything else rejects and stays. */
export async function removeEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(ifMissing);
  if (found === undefined) return;
  if (found.isDirectory()) await rmdir(path);
  else if (found.isSymbolicLink() || found.size === 0) await unlink(path);
  else throw new Error(`Cannot remove ${path}: it is a file with contents`);
}

/** Creates a link, or replaces one that has another target. */
export async function placeLink(path: string, target: string): Promise<void> {
  const existing = await readlink(path).catch(ifMissing);
  if (existing === target) return;
  if (existing !== undefined) await unlink(path);
  await symlink(target, path);
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

/** Names in a directory; empty if it does not exist. */
export async function namesIn(path: string): Promise<readonly string[]> {
  return readdir(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return [];
  });
}

/**
 * Sets the group of a directory and everything in it. Links are not followed, also if a process that writes to the directory replaces
 * entries by links meanwhile: each is opened relative to its parent, and changed by its descriptor. Failures for single entries are ignored,
 * and so is what lies deeper than a path can name. The directory itself is changed last. Linux only.
 */
export async function giveToGroup(
  directory: string,
  groupId: number,
  modeFor: (mode: number, what: { readonly isDirectory: boolean }) => number,
  levels = LEVELS_MAX,
): Promise<void> {
  const place = await open(directory, ONLY_THE_PLACE | constants.O_NOFOLLOW);
  try {
    const found = await place.stat();
    if (found.isSymbolicLink()) return await lchown(directory, -1, groupId).catch(() => undefined);
    const held = `/proc/self/fd/${place.fd}`;
    if (found.isDirectory() && levels > 0) {
      for await (const { name } of await opendir(held)) {
        // An entry may be removed meanwhile.
        await giveToGroup(`${held}/${name}`, groupId, modeFor, levels - 1).catch(() => undefined);
      }
    }
    await chown(held, -1, groupId).catch(() => undefined);
    await chmod(held, modeFor(found.mode & 0o7777, { isDirectory: found.isDirectory() })).catch(() => undefined);
  } finally {
    await place.close();
  }
}

/** Levels of a tree that a path of 4,096 bytes can name. Each holds two descriptors, and a container can nest directories without end. */
const LEVELS_MAX = 2_048;

/** O_PATH: opens nothing, so a FIFO does not block and no device notices. Node does not name it. */
const ONLY_THE_PLACE = 0o10000000;

/** Also removes trees that exceed the maximum path length. Rejects if something is mounted inside. A missing path is fine. */
export async function removeTree(path: string): Promise<void> {
  const [mounted] = await mountsUnder(path);
  if (mounted !== undefined) throw new Error(`Cannot remove ${path}: ${mounted.path} is mounted`);
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG") throw error;
    await runProgram({ command: "rm", arguments: ["-rf", "--", path] });
  }
}

/** Identity of a file, whatever its name; links are followed. */
export async function fileIdentity(path: string): Promise<{ readonly device: number; readonly inode: number }> {
  const { dev, ino } = await stat(path);
  return { device: dev, inode: ino };
}
