/**
 * The user's own kubeconfig file: where it is, and how it is changed while kubectl may change it, too. By kubectl's convention whoever
 * writes FILE first makes FILE.lock, which nobody else can then make. It is replaced whole, where it really is if the name is a link; it
 * stays its owner's, and who may read it stays their decision. A new one holds keys and is its owner's alone.
 */
import { chmod, chown, lstat, open, readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { YamlError } from "../../api/machinery/codec/yaml/scalar.ts";
import type { Clock } from "../../base/clock.ts";
import { fileExists, joinPath, makePrivateDirectory, removeFile } from "../../host/files/files.ts";
import { absolutePath, writePrivateText } from "../../host/files/private-files.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { explainFileError } from "../home/start-errors.ts";

/** How often a lock is tried that another program has: no event tells when it is gone. */
const LOCK_RETRY_MS = 50;
/** kubectl holds it for as long as it takes to write a file. */
const LOCK_WAIT_MS = 3_000;

/** What kubectl reads as one, the first before the others: the files that KUBECONFIG names, or ~/.kube/config. None if there is no home. */
export function kubectlFiles({ KUBECONFIG: list = "", HOME: home }: Environment): readonly string[] {
  const named = list.split(":").filter((path) => path !== "");
  if (named.length > 0) return [...new Set(named.map(absolutePath))];
  return home === undefined || home === "" ? [] : [joinPath(home, ".kube/config")];
}

/**
 * Into which of some files kubectl would write something new: the first that there is, or the last if there is none. What is written
 * there is hidden by no other of them, be it an entry or the choice of the current context.
 */
export async function fileToWrite(files: readonly string[]): Promise<string> {
  for (const path of files) if (await fileExists(path)) return path;
  return files.at(-1) ?? "";
}

type Change = (text: string) => string | undefined | Promise<string | undefined>;

/**
 * Writes what `change` makes of the text, "" if there is no file yet; undefined: leaves it. Resolves with whether it was written. Rejects
 * with one sentence, and then nothing is changed.
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
 * It gets the administrator's key, and stays its owner's: so it must be this user's, root's, or of the user whose directory it is in (root
 * that was started for another user). In a directory such as /tmp any user could have made it, or a link with its name.
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
  // To root, and to who may write to the directory, that would be no hindrance; but somebody has meant it.
  if (found !== undefined && (found.mode & WRITABLE) === 0)
    throw new Error(
      `Cannot change ${path}: it is read-only; make it writable (chmod u+w ${target}), or use another file with --kubeconfig`,
    );
  await writePrivateText(target, after);
  if (found === undefined) return true;
  // Who runs k8ts as root for another user's home must not take the file from that user.
  if (process.getuid?.() === 0) await chown(target, found.uid, found.gid);
  await chmod(target, found.mode & PERMISSIONS);
  return true;
}

/** By anybody. */
const WRITABLE = 0o222;
const PERMISSIONS = 0o7777;

/** Where a link leads to; the name itself if there is nothing yet. */
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
