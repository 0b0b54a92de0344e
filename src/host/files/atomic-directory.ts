/**
 * A directory whose files change all at once: a reader sees all of the old files or all of the new ones. The files are in a directory of
 * their own, "..data" is a link to it that is replaced atomically, and the names that readers use are links through that:
 *
 *     name → ..data/name      ..data → ..2026_01_31_10_20_30.123456      ..2026_01_31_10_20_30.123456/name
 *
 * This is the form that kubelets have always written and programs have come to know. An update that is cut off anywhere leaves the old
 * files, and the next one removes its leftovers. Not here: which paths are allowed; the caller checks that.
 */
import type { Dirent } from "node:fs";
import { chmod, lchown, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface AtomicFile {
  readonly data: Uint8Array;
  readonly mode: number;
  /** Default: the user of this process. */
  readonly ownerUid?: number;
}

export interface AtomicWrite {
  readonly nowMs: number;
  /** Called with the directory when all files are written and none is visible yet: to set owners. */
  beforeShown?(): Promise<void>;
}

const SHOWN = "..data";
const NEXT_SHOWN = "..data_tmp";
/** World-readable; the files have modes of their own. */
const DIRECTORY_MODE = 0o755;

/** Writes the files, by relative path. Resolves with true if anything changed. The directory must exist. */
export async function writeAtomically(
  directory: string,
  files: ReadonlyMap<string, AtomicFile>,
  { nowMs, beforeShown }: AtomicWrite,
): Promise<boolean> {
  const old = await readlink(join(directory, SHOWN)).catch(ifMissing);
  const isChanged = old === undefined || !(await holdsExactly(join(directory, old), files));
  if (isChanged) {
    const fresh = await writeFresh(directory, files, nowMs);
    await beforeShown?.();
    await rm(join(directory, NEXT_SHOWN), { force: true });
    await symlink(basename(fresh), join(directory, NEXT_SHOWN));
    await rename(join(directory, NEXT_SHOWN), join(directory, SHOWN));
  }
  await linkNames(directory, files);
  if (isChanged) await removeOld(directory);
  return isChanged;
}

/** True if it was written before. */
export async function wasWritten(directory: string): Promise<boolean> {
  return (await readlink(join(directory, SHOWN)).catch(ifMissing)) !== undefined;
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

async function writeFresh(directory: string, files: ReadonlyMap<string, AtomicFile>, nowMs: number): Promise<string> {
  const fresh = await mkdtemp(join(directory, stamp(nowMs)));
  await chmod(fresh, DIRECTORY_MODE);
  for (const [path, { data, mode, ownerUid }] of files) {
    const full = join(fresh, path);
    await makeParents(fresh, path);
    // Inaccessible to others until it has its final mode.
    await writeFile(full, data, { mode: 0o600, flag: "wx" });
    if (ownerUid !== undefined) await lchown(full, ownerUid, -1);
    await chmod(full, mode);
  }
  return fresh;
}

/** "..2026_01_31_10_20_30." */
function stamp(nowMs: number): string {
  return `..${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-T:]/g, "_")}.`;
}

/** Sets the exact mode, regardless of the umask. */
async function makeParents(root: string, path: string): Promise<void> {
  const parent = dirname(path);
  if (parent === ".") return;
  await makeParents(root, parent);
  try {
    await mkdir(join(root, parent));
    await chmod(join(root, parent), DIRECTORY_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** True if exactly these files exist with this content. */
async function holdsExactly(directory: string, files: ReadonlyMap<string, AtomicFile>): Promise<boolean> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(ifMissing);
  if (entries === undefined) return false;
  const present = entries.filter((entry) => !entry.isDirectory()).map((entry) => pathOf(directory, entry));
  if (present.length !== files.size || !present.every((path) => files.has(path))) return false;
  for (const [path, { data }] of files) {
    if (Buffer.compare(await readFile(join(directory, path)), data) !== 0) return false;
  }
  return true;
}

function pathOf(root: string, { parentPath, name }: Dirent): string {
  return join(parentPath, name).slice(root.length + 1);
}

/** Existing names may be links, or directories with mounts in them. */
async function linkNames(directory: string, files: ReadonlyMap<string, AtomicFile>): Promise<void> {
  const present = new Set(await readdir(directory));
  const wanted = new Map([...files].map(([path, { ownerUid }]) => [path.split("/")[0] as string, ownerUid] as const));
  for (const [name, ownerUid] of wanted) {
    if (present.has(name)) continue;
    await symlink(join(SHOWN, name), join(directory, name));
    if (ownerUid !== undefined) await lchown(join(directory, name), ownerUid, -1);
  }
}

/** Removes dangling links and the directories of earlier updates, interrupted ones included. */
async function removeOld(directory: string): Promise<void> {
  const current = await readlink(join(directory, SHOWN));
  const shown = new Set(await readdir(join(directory, current)));
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const { name } = entry;
    if (name === SHOWN || name === current) continue;
    if (entry.isDirectory() && STAMPED.test(name)) await rm(join(directory, name), { recursive: true, force: true });
    else if (entry.isSymbolicLink() && !shown.has(name) && (await readlink(join(directory, name))) === join(SHOWN, name))
      await unlink(join(directory, name));
  }
}

const STAMPED = /^\.\.\d{4}(_\d\d){5}\./;
