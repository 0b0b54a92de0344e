/**
 * Locks a directory for one process. The lock must vanish with its holder, however that dies, and taking over from a dead holder must not
 * race: Node has no flock, and a PID file guarantees neither. So on Linux the lock is a socket with an abstract name made of the
 * directory's device and inode, which the kernel binds for one process and releases at its exit. The file `holder` in it only names the
 * holder; without a live holder it means that the last one did not release the lock cleanly. On other systems that file is the lock.
 *
 * Not detected: a holder in another network namespace (a container) on Linux. Such a process is found by the file if it shares our PID
 * namespace; if not, the user of the directory detects it by `owner` (store/embedded/disk.ts does).
 */
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDiskFull, PRIVATE_FILE_MODE, syncDirectory } from "./files.ts";
import { isAlive, ourProcess, type ProcessMark } from "../processes/process-identity.ts";

const HOLDER_FILE = "holder";

/** Polling interval and total timeout for the holder file: as long as a busy machine takes to write a line. */
const NOTE_LOOK_AGAIN_MS = 10;
const NOTE_LOOKS_MAX = 200;

/** The largest range that randomInt allows. */
const OWNERS = 2 ** 48 - 1;

export interface DirectoryLock {
  /** The last holder did not release the directory: it died, or abandoned it. */
  readonly wasAbandoned: boolean;
  /** Unique number of this holder. */
  readonly owner: number;
  /** Releases a directory in a clean state. */
  release(): Promise<void>;
  /** Releases a directory that may be inconsistent, and leaves the holder file as a mark for the next holder. */
  abandon(): Promise<void>;
}

export type LockAttempt = { readonly lock: DirectoryLock } | { readonly heldBy: string };

/** Takes the lock of an existing directory, or returns its holder. */
export async function lockDirectory(directory: string): Promise<LockAttempt> {
  const holderFile = join(directory, HOLDER_FILE);
  const server = process.platform === "linux" ? await listen(abstractName(directory)) : undefined;
  if (server === "taken") return { heldBy: named(await settledHolder(holderFile)) };
  // Not earlier: a process that released the lock since then, and is alive, would appear as the holder.
  const holder = readHolder(holderFile);
  if (holder !== undefined && isAlive(holder) && holder.pid !== process.pid) {
    if (server !== undefined) await close(server);
    return { heldBy: named(holder) };
  }
  if (holder?.pid === process.pid && server === undefined) return { heldBy: `this process (${process.pid})` };
  const letGo = async () => void (server !== undefined && (await close(server)));
  const wasAbandoned = existsSync(holderFile);
  try {
    writeHolder(holderFile, { isOnlyNote: server !== undefined });
    await syncDirectory(directory); // After a power failure the next holder must see that there was one.
  } catch (error) {
    await letGo();
    throw error;
  }
  return {
    lock: {
      wasAbandoned,
      owner: randomInt(OWNERS),
      async release() {
        try {
          rmSync(holderFile, { force: true });
        } finally {
          await letGo();
        }
      },
      async abandon() {
        try {
          // Its existence is the mark; the name in it would only mislead.
          writeFileSync(holderFile, "", { mode: PRIVATE_FILE_MODE });
        } finally {
          await letGo();
        }
      },
    },
  };
}

/** A new holder writes its file shortly after it has taken the lock; until then the file is missing or stale. There is no event for it. */
async function settledHolder(file: string): Promise<Holder | undefined> {
  for (let looks = 1; ; looks++) {
    const holder = readHolder(file);
    if (holder !== undefined && isAlive(holder)) return holder;
    if (looks === NOTE_LOOKS_MAX) return undefined;
    await setTimeout(NOTE_LOOK_AGAIN_MS);
  }
}

function named(holder: Holder | undefined): string {
  return holder === undefined ? "another process" : `process ${holder.pid} (${holder.command})`;
}

/** Returns the live process that claims to hold the directory, for readers that do not take the lock. */
export function livingHolder(directory: string): ProcessMark | undefined {
  const holder = readHolder(join(directory, HOLDER_FILE));
  return holder !== undefined && isAlive(holder) ? { pid: holder.pid, started: holder.started } : undefined;
}

interface Holder extends ProcessMark {
  readonly command: string;
}

function ourselves(): Holder {
  return { ...ourProcess(), command: process.argv.slice(0, 3).join(" ") };
}

/**
 * Where the socket is the lock, the file only has to exist: on a full disk it may stay empty, so that a cluster can still be stopped and
 * its files removed.
 */
function writeHolder(file: string, { isOnlyNote }: { readonly isOnlyNote: boolean }): void {
  try {
    writeFileSync(file, JSON.stringify(ourselves()), { mode: PRIVATE_FILE_MODE });
  } catch (error) {
    if (!isDiskFull(error) || !isOnlyNote || !existsSync(file)) throw error;
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
    const { pid, command, started } = parsed as Record<keyof Holder, unknown>;
    if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0) return undefined;
    return { pid, command: String(command).slice(0, 200), started: String(started) };
  } catch {
    return undefined; // Missing, or partially written by a process that died: the lock itself decides.
  }
}

function abstractName(directory: string): string {
  const { dev, ino } = statSync(directory);
  return `\0k8ts-directory-${dev}-${ino}`;
}

function listen(name: string): Promise<Server | "taken"> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.destroy());
    server.unref(); // A held lock must not keep the process alive.
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve("taken") : reject(error)));
    server.listen({ path: name }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
