/**
 * The user's kubeconfig file: its location, and changes that are safe against concurrent kubectl. By kubectl's convention a writer of FILE
 * first creates FILE.lock exclusively. The file is replaced atomically, behind symbolic links; owner and permissions are kept. A new file
 * is readable only by its owner, because it contains keys.
 */
import { chmod, chown, lstat, open, readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { YamlError } from "../../api/machinery/codec/yaml/scalar.ts";
import type { Clock } from "../../base/clock.ts";
import { fileExists, joinPath, makePrivateDirectory, removeFile } from "../../host/files/files.ts";
import { absolutePath, writePrivateText } from "../../host/files/private-files.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { explainFileError } from "../home/start-errors.ts";

/** Retry interval for a lock that another program holds; there is no event for its release. */
const LOCK_RETRY_MS = 50;
/** kubectl holds it while it writes the file. */
const LOCK_WAIT_MS = 3_000;

/** Files that kubectl merges, in order of precedence: those in KUBECONFIG, or ~/.kube/config. Empty if there is no home directory. */
export function kubectlFiles({ KUBECONFIG: list = "", HOME: home }: Environment): readonly string[] {
  const named = list.split(":").filter((path) => path !== "");
  if (named.length > 0) return [...new Set(named.map(absolutePath))];
  return home === undefined || home === "" ? [] : [joinPath(home, ".kube/config")];
}

/**
 * The file that kubectl would write new entries to: the first existing one, or the last if none exists. Entries and current context there
 * are not hidden by another file.
 */
export async function fileToWrite(files: readonly string[]): Promise<string> {
  for (const path of files) if (await fileExists(path)) return path;
  return files.at(-1) ?? "";
}

type Change = (text: string) => string | undefined | Promise<string | undefined>;

/**
 * Writes the result of `change` on the text, "" if the file does not exist; undefined: keeps the file. Resolves with true if it was
 * written. Rejects with a message for the user; then nothing is changed.
 */
export async function changeKubeconfig(path: string, clock: Clock, change: Change): Promise<boolean> {
  try {
    await makePrivateDirectory(dirname(path));
    await checkNotPlanted(path);
    await takeLock(path, clock);
    try {
      return await changeLocked(path, change);
    } finally {
      await removeFile(lockOf(path));
    }
  } catch (error) {
    if (error instanceof YamlError)
      throw new Error(`Cannot change ${path}: it cannot be parsed: ${error.message}; correct it, or use another file with --kubeconfig`, {
        cause: error,
      });
    throw explainFileError(error, { action: `change ${path}`, flag: "--kubeconfig" });
  }
}

/**
 * The file gets the administrator's key and keeps its owner, so it must belong to this user, root, or the owner of its directory (root
 * started for another user). In a directory such as /tmp any user could have created it or a link of its name.
 */
async function checkNotPlanted(path: string): Promise<void> {
  const target = await targetOf(path);
  for (const each of new Set([path, target])) {
    const found = await lstat(each).catch(ifMissing);
    if (found === undefined) continue;
    const owners = [process.geteuid?.() ?? found.uid, 0, (await stat(dirname(each))).uid];
    if (owners.includes(found.uid)) continue;
    const what = found.isSymbolicLink() ? "is a symbolic link owned by" : "is owned by";
    throw new Error(
      `Cannot change ${path}: ${each === path ? "it" : each} ${what} user ${found.uid}, who could read the administrator's key; ` +
        `remove it, or use another file with --kubeconfig`,
    );
  }
}

async function changeLocked(path: string, change: Change): Promise<boolean> {
  const target = await targetOf(path);
  const before = await readFile(target, "utf8").catch(ifMissing);
  const after = await change(before ?? "");
  if (after === undefined || after === before) return false;
  const found = before === undefined ? undefined : await stat(target);
  // Root, and users with write permission for the directory, could replace it anyway; but its owner made it read-only on purpose.
  if (found !== undefined && (found.mode & WRITABLE) === 0)
    throw new Error(
      `Cannot change ${path}: it is read-only; make it writable (chmod u+w ${target}), or use another file with --kubeconfig`,
    );
  await writePrivateText(target, after);
  if (found === undefined) return true;
  // Root running k8ts for another user must not change the owner of the file.
  if (process.getuid?.() === 0) await chown(target, found.uid, found.gid);
  await chmod(target, found.mode & PERMISSIONS);
  return true;
}

/** By any user. */
const WRITABLE = 0o222;
const PERMISSIONS = 0o7777;

/** Target of a symbolic link; the path itself if it does not exist. */
async function targetOf(path: string): Promise<string> {
  return (await realpath(path).catch(ifMissing)) ?? path;
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

async function takeLock(path: string, clock: Clock): Promise<void> {
  const giveUpMs = clock.monotonic() + LOCK_WAIT_MS;
  for (;;) {
    try {
      await (await open(lockOf(path), "wx", 0o000)).close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (clock.monotonic() >= giveUpMs)
      throw new Error(
        `Cannot change ${path}: another program holds its lock ${lockOf(path)}; if no program is changing it, remove the lock file`,
      );
    await clock.sleep(LOCK_RETRY_MS);
  }
}
