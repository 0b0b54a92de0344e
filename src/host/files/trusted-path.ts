/**
 * Decides whether the content at a path can be trusted: only this user and root could have written it, or could replace a directory or a
 * symbolic link on the way to it. Every read from a directory that other users can write to (/tmp, /run, $XDG_RUNTIME_DIR), and of a path
 * that a file there names, passes through here first.
 *
 * A check before the use is enough: where every component of a path is of a trusted owner and not writable by others, no other user can
 * change the path after the check either. In a directory with the sticky bit others can add entries, but not replace ours.
 * Not here: which paths a cluster's home consists of (cluster/home/trusted-home.ts).
 */
import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** As the kernel has it (MAXSYMLINKS): more are a loop. */
const LINKS_MAX = 40;

/** The files that are read here are small documents that k8ts wrote. */
const TEXT_BYTES_MAX = 1024 * 1024;

const STICKY = 0o1000;
const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;

interface Distrust {
  /** Such as "/tmp/x belongs to user 1001". */
  readonly why: string;
  readonly remedy: string;
}

/** Another user could have written what is there. The message says which part of the path is not trusted, why, and what to do. */
export class UntrustedPathError extends Error implements Distrust {
  override readonly name = "UntrustedPathError";
  readonly path: string;
  readonly why: string;
  readonly remedy: string;

  constructor(path: string, { why, remedy }: Distrust, options?: ErrorOptions) {
    super(`Cannot trust ${shown(path)}: ${why}; ${remedy}`, options);
    this.path = path;
    this.why = why;
    this.remedy = remedy;
  }
}

export interface TrustOptions {
  /**
   * $HOME of this process. The owner of that directory is trusted for paths below it: root that runs with the HOME of another user
   * (sudo that keeps it, a CI container) has been started for that user.
   */
  readonly userHome?: string | undefined;
}

/** What decides about one component of a path. */
export interface PathComponent {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
  readonly kind: "directory" | "link" | "other";
}

export interface TrustedUsers {
  /** This user, root, and the owner of $HOME where that applies. */
  readonly uids: readonly number[];
  /** Owner of "/": root, but in a user namespace it may have another number. Trusted for the way to a path, not for what is there. */
  readonly rootOwner: number;
}

/** Why a component is not trusted; undefined: it is. `isTarget`: the path ends here. */
export function distrust(
  { uid, gid, mode, kind }: PathComponent,
  { uids, rootOwner }: TrustedUsers,
  { isTarget }: { readonly isTarget: boolean },
): Distrust | undefined {
  const isTrustedOwner = uids.includes(uid) || (!isTarget && kind === "directory" && uid === rootOwner);
  const whose = kind === "link" ? `is a symbolic link owned by user ${uid}` : `is owned by user ${uid}`;
  if (!isTrustedOwner) return { why: whose, remedy: `run this as that user, or remove it` };
  if (kind === "link") return undefined;
  if (!isTarget && (mode & STICKY) !== 0) return undefined;
  // By convention a group with the number of its user has no other member (user private groups, umask 002).
  const isPrivateGroup = uid !== 0 && gid === uid;
  const writers = [...((mode & GROUP_WRITE) !== 0 && !isPrivateGroup ? ["g"] : []), ...((mode & OTHERS_WRITE) !== 0 ? ["o"] : [])].join("");
  if (writers === "") return undefined;
  const why = `is writable by other users (mode ${modeText(mode)})`;
  // Of a directory such as /tmp, others need that right.
  if ((mode & STICKY) !== 0) return { why, remedy: "use a directory that only this user can write to" };
  return { why, remedy: `remove that permission: chmod ${writers}-w` };
}

/** "0777" */
function modeText(mode: number): string {
  return `0${(mode & 0o7777).toString(8)}`;
}

/**
 * Rejects with UntrustedPathError unless only trusted users can change what the path resolves to. Symbolic links of trusted users are followed.
 * Rejects with the system's error (ENOENT) if it does not exist. On systems without user ids every path is trusted.
 */
export async function checkTrustedPath(path: string, options: TrustOptions = {}): Promise<void> {
  const users = await trustedUsers(path, options);
  if (users === undefined) return;
  let current = "/";
  let names = namesOf(resolve(path));
  let links = 0;
  checkComponent(path, current, await lstat(current), users, { isTarget: names.length === 0 });
  while (names.length > 0) {
    const [name = "", ...rest] = names;
    const next = name === ".." ? dirname(current) : join(current, name);
    const found = await lstat(next);
    checkComponent(path, next, found, users, { isTarget: rest.length === 0 });
    if (found.isSymbolicLink()) {
      links += 1;
      if (links > LINKS_MAX) throw new UntrustedPathError(path, { why: "too many symbolic links", remedy: `remove ${shown(next)}` });
      const target = await readlink(next);
      if (target.startsWith("/")) current = "/";
      names = [...namesOf(target), ...rest];
    } else {
      current = next;
      names = rest;
    }
  }
}

export interface TrustedEntriesOptions extends TrustOptions {
  /** Which entries matter. Default: all. */
  includes?(name: string): boolean;
}

/** The names in a trusted directory, each of them checked: rejects if one entry is not trusted. An entry that vanishes meanwhile is left out. */
export async function checkTrustedEntries(directory: string, options: TrustedEntriesOptions = {}): Promise<readonly string[]> {
  await checkTrustedPath(directory, options);
  const { includes = () => true } = options;
  const names = (await readdir(directory)).filter(includes);
  const present = await Promise.all(names.map((name) => isPresent(checkTrustedPath(join(directory, name), options))));
  return names.filter((_name, index) => present[index]);
}

/**
 * The text of a file in a directory that only trusted users can write to, sticky bit or not: elsewhere another user could have made a hard
 * link to a file of ours. What was opened is checked, and it is not opened through a symbolic link.
 */
export async function readTrustedText(path: string, options: TrustOptions = {}): Promise<string> {
  await checkTrustedPath(dirname(path), options);
  const users = await trustedUsers(path, options);
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ELOOP") throw error;
    throw new UntrustedPathError(path, { why: "it is a symbolic link", remedy: "remove it" }, { cause: error });
  });
  try {
    const found = await file.stat();
    if (users !== undefined) checkComponent(path, path, found, users, { isTarget: true });
    if (!found.isFile()) throw new UntrustedPathError(path, { why: "it is not a regular file", remedy: "remove it" });
    const buffer = Buffer.alloc(Math.min(found.size, TEXT_BYTES_MAX) + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > TEXT_BYTES_MAX)
      throw new UntrustedPathError(path, { why: `it has more than ${TEXT_BYTES_MAX} bytes, which k8ts never writes`, remedy: "remove it" });
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

function checkComponent(path: string, component: string, found: Stats, users: TrustedUsers, role: { readonly isTarget: boolean }): void {
  const kind = found.isSymbolicLink() ? "link" : found.isDirectory() ? "directory" : "other";
  // The mode of a socket that only its owner can reach says nothing: the directory decides.
  const mode = found.isSocket() ? 0 : found.mode;
  const problem = distrust({ uid: found.uid, gid: found.gid, mode, kind }, users, role);
  if (problem === undefined) return;
  const which = component === path ? "it" : shown(component);
  const remedy = problem.remedy.endsWith("-w") ? `${problem.remedy} ${shown(component)}` : problem.remedy;
  throw new UntrustedPathError(path, { why: `${which} ${problem.why}`, remedy });
}

/** Undefined on systems without user ids. */
async function trustedUsers(path: string, { userHome }: TrustOptions): Promise<TrustedUsers | undefined> {
  const uid = process.geteuid?.();
  if (uid === undefined) return undefined;
  const isBelowHome = userHome !== undefined && userHome.startsWith("/") && resolve(path).startsWith(`${resolve(userHome)}/`);
  const homeOwner = isBelowHome
    ? await stat(userHome).then(
        (found) => [found.uid],
        () => [],
      )
    : [];
  return { uids: [uid, 0, ...homeOwner], rootOwner: (await stat("/")).uid };
}

function namesOf(path: string): readonly string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** Another user may have chosen the name: no control character reaches the terminal. */
function shown(path: string): string {
  return /^[\x20-\x7e\u00a0-\uffff]+$/.test(path) ? path : JSON.stringify(path);
}

async function isPresent(check: Promise<void>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
