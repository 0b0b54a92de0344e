/** Small files with secrets: written atomically, readable by their owner only. */
import { chmod, lstat, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makePrivateDirectory, writeFileWhole } from "./files.ts";
import { isAlive, ourProcess, processSpace } from "../processes/process-identity.ts";
import { checkTrustedEntries } from "./trusted-path.ts";

/** Creates the directory if it is missing. */
export async function writePrivateText(path: string, text: string): Promise<void> {
  await makePrivateDirectory(dirname(path));
  await writeFileWhole(
    path,
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
}

/**
 * Creates a directory for what k8ts keeps, or takes one that exists: rejects with UntrustedPathError if another user could have written
 * what is in it, that is the directory, a directory on the way to it, or one of the entries that `includes` names.
 */
export async function claimPrivateDirectory(path: string, includes: (name: string) => boolean): Promise<void> {
  await makePrivateDirectory(path);
  await checkTrustedEntries(path, { userHome: process.env["HOME"], includes });
}

/** Removes all permissions of other users. Ignored where this process is not allowed to. */
export async function keepPrivate(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & OTHERS) !== 0) await chmod(path, mode & ~OTHERS);
  } catch {
    // A directory that is managed elsewhere, such as a read-only mount.
  }
}

/** Permission bits of group and others. */
const OTHERS = 0o077;

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Creates a directory that only this user can access; removed recursively when it is disposed of. */
export async function makeTemporaryDirectory(prefix: string): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Same for content that must not outlive this process: leftovers of killed processes are removed by the next process that creates such a
 * directory. The name identifies the owner.
 */
export async function makeProcessDirectory(prefix: string): Promise<TemporaryDirectory> {
  await removeLeftovers(prefix);
  const { pid, started } = ourProcess();
  // Without its start time a process could not be identified later.
  return makeTemporaryDirectory(started === "" ? prefix : `${prefix}${processSpace()}-${pid}-${started}-`);
}

async function removeLeftovers(prefix: string): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const owner = name.startsWith(prefix) ? OWNER.exec(name.slice(prefix.length)) : null;
    if (owner === null || owner[1] !== processSpace() || isAlive({ pid: Number(owner[2]), started: owner[3] as string })) continue;
    // Never another user's: a user who can write to a directory can redirect its recursive removal by symbolic links.
    if (await isOwnDirectory(join(tmpdir(), name))) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** True if this user created it, and it is not a link. */
export async function isOwnDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === (process.geteuid?.() ?? found.uid);
}

/** PID namespace, PID and start time. */
const OWNER = /^(\d+)-(\d+)-(\d+)-/;

export function absolutePath(path: string): string {
  return resolve(path);
}

/** Host name of this machine. */
export function machineName(): string {
  return hostname();
}
