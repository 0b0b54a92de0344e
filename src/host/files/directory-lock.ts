/**
 * One process per directory. The lock must vanish with its holder, however that dies, and taking over from a dead holder
 * must not race: Node has no flock, and a file with a process id in it can be neither. So on Linux the lock is a socket
 * with an abstract name made of the directory's device and inode, which the kernel gives to one process and takes back at
 * its end. The file `holder` in it only says who holds it; if nobody does, that the last one did not let go as it should. On
 * other systems that file is all there is.
 *
 * Not seen: a holder in another network namespace (a container) on Linux. Such a process is found by the file if it shares
 * our process ids; if not, whoever uses the directory can tell by `owner` that it is not alone (store/embedded/disk.ts does).
 */
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDiskFull, PRIVATE_FILE_MODE, syncDirectory } from "./files.ts";
import { isAlive, ourProcess, type ProcessMark } from "../processes/process-identity.ts";

const HOLDER_FILE = "holder";

/** How often, and for how long in all, a note is waited for: as long as a busy machine takes to write a line. */
const NOTE_LOOK_AGAIN_MS = 10;
const NOTE_LOOKS_MAX = 200;

/** The largest range that randomInt allows. */
const OWNERS = 2 ** 48 - 1;

export interface DirectoryLock {
  /** The last holder did not release the directory: it died, or abandoned it. */
  readonly wasAbandoned: boolean;
  /** A number that no other holder has. */
  readonly owner: number;
  /** Lets go of a directory in which all is well. */
  release(): Promise<void>;
  /** Lets go of a directory in which something may be wrong, and leaves a note of that for the next holder. */
  abandon(): Promise<void>;
}

export type LockAttempt = { readonly lock: DirectoryLock } | { readonly heldBy: string };

/** Takes the lock of an existing directory, or says who holds it. */
export async function lockDirectory(directory: string): Promise<LockAttempt> {
  const holderFile = join(directory, HOLDER_FILE);
  const server = process.platform === "linux" ? await listen(abstractName(directory)) : undefined;
  if (server === "taken") return { heldBy: named(await settledHolder(holderFile)) };
  // Not before: who has let go since then, and lives on, would seem to hold it.
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
          // That it is there is the note; whom it names would only mislead.
          writeFileSync(holderFile, "", { mode: PRIVATE_FILE_MODE });
        } finally {
          await letGo();
        }
      },
    },
  };
}

/** A new holder writes its note a moment after it has taken the lock; until then the note is missing or stale. There is no event for it. */
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

/** The process that lives and says that it holds the directory, if there is one; for who only looks, and does not want it. */
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
 * Where the socket is the lock, the file only has to be there: on a full disk it may stay empty, so that a cluster can be stopped and its
 * files be removed there, too.
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
    return undefined; // Missing, or half written by a process that died: the lock itself decides.
  }
}

function abstractName(directory: string): string {
  const { dev, ino } = statSync(directory);
  return `\0k8ts-directory-${dev}-${ino}`;
}

function listen(name: string): Promise<Server | "taken"> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.destroy());
    server.unref(); // Holding a lock is no reason to stay alive.
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve("taken") : reject(error)));
    server.listen({ path: name }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
