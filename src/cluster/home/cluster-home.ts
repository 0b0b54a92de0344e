/**
 * The home of a cluster, its data directory: created if missing, rejected if it is not a home or has an unknown format, and locked by one
 * process at a time. An error names the holder of the lock and the remedy. Not here: the paths in it (home-paths.ts), its format
 * (home-marker.ts), its deletion (remove-home.ts).
 */
import { readdir } from "node:fs/promises";
import type { DirectoryLock } from "../../host/files/directory-lock.ts";
import { fileExists, joinPath, makePrivateDirectory } from "../../host/files/files.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { readRecord, removeRecord, runs, writeRecord, type ClusterRecord } from "./cluster-record.ts";
import { homeArguments, type HomeChoice } from "./home-flags.ts";
import { readHomeMarker, writeHomeMarker, type HomeMarker } from "./home-marker.ts";
import {
  contextName,
  DEFAULT_NAME,
  homePaths,
  homesDirectory,
  isMadeEmpty,
  isOwnEntry,
  MARKER_FILE,
  type HomePaths,
} from "./home-paths.ts";
import { LET_GO_WITHIN_MS, lockWithRetry } from "./lock-with-retry.ts";
import { findRuntimeDirectory, makeRuntimeDirectory } from "./runtime-directory.ts";
import { findRunningProcess } from "./find-running-process.ts";
import { explainFileError, explainForeignHome, explainHomeError } from "./start-errors.ts";
import { checkTrustedHome } from "./trusted-home.ts";

export interface ClusterHome extends HomePaths {
  readonly name: string;
  /** Context name in a kubeconfig with other contexts; a number is appended if it is in use there. */
  readonly context: string;
  /** Directory of sockets. Undefined: not created, or removed. */
  readonly runtimeDirectory: string | undefined;
  /** Arguments that select this cluster on a command line, with a leading space; "" for the default one. */
  readonly commandArguments: string;
}

/**
 * A home that this process has locked. Disposing of it releases the lock and removes the record. If the previous process was killed, left
 * something on the machine, and this process did not start the cluster, the previous record is restored.
 */
export interface HeldHome extends AsyncDisposable {
  readonly home: ClusterHome & { readonly runtimeDirectory: string };
  /** The previous process was killed: what it left on the machine may still be there. */
  readonly wasAbandoned: boolean;
  /** No cluster has ever run in it. */
  readonly isUnused: boolean;
  writeRecord(record: ClusterRecord): Promise<void>;
}

/**
 * Undefined if the directory does not exist or is not a home. One that contains only a store was created before there were markers, or by
 * `k8ts apiserver`. Rejects if it has a newer format, is not readable by this user, or could have been written by another user.
 */
export async function findHome(choice: HomeChoice, environment: Environment): Promise<ClusterHome | undefined> {
  const marker = await trustedMarker(choice.directory, environment).catch((error: unknown) => {
    throw explainForeignHome(error, choice.directory);
  });
  if (marker === undefined && !(await fileExists(joinPath(choice.directory, "store.mdb")))) return undefined;
  const name = marker?.name ?? choice.name ?? DEFAULT_NAME;
  return homeOf(choice, name, await findRuntimeDirectory(choice.directory, environment), environment);
}

/** A directory that is not a home is not checked: nothing in it is used. */
async function trustedMarker(directory: string, environment: Environment): Promise<HomeMarker | undefined> {
  const names: readonly string[] = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  if (!names.includes(MARKER_FILE) && !names.includes("store.mdb")) return undefined;
  await checkTrustedHome(directory, environment);
  return readHomeMarker(directory);
}

/** Creates the home, if the directory allows it, without locking it. */
export async function prepareHome(choice: HomeChoice, environment: Environment): Promise<ClusterHome> {
  const { directory } = choice;
  const paths = homePaths(directory);
  try {
    await makePrivateDirectory(directory);
    await checkTrustedHome(directory, environment);
    const marker = await readHomeMarker(directory);
    if (marker === undefined) await checkFree(directory);
    const name = choice.name ?? marker?.name ?? DEFAULT_NAME;
    if (marker?.name !== name) await writeHomeMarker(directory, { name });
    await makePrivateDirectory(paths.runDirectory);
    await makePrivateDirectory(paths.logDirectory);
    return homeOf(choice, name, await findRuntimeDirectory(directory, environment), environment);
  } catch (error) {
    throw explainFileError(error, { action: `use ${directory}`, flag: "--data-dir" });
  }
}

/** Rejects if another process holds the lock. */
export async function openHome(choice: HomeChoice, environment: Environment): Promise<HeldHome> {
  const home = await prepareHome(choice, environment);
  try {
    return await openPrepared(home, environment);
  } catch (error) {
    throw explainHomeError(error, home.directory);
  }
}

async function openPrepared(home: ClusterHome, environment: Environment): Promise<HeldHome> {
  const lock = await takeHome(home);
  try {
    const isUnused = (await readdir(home.directory)).every(isMadeEmpty);
    const before = await readRecord(home.record);
    return held({ ...home, runtimeDirectory: await makeRuntimeDirectory(home.directory, environment) }, { lock, isUnused, before });
  } catch (error) {
    await lock.abandon();
    throw error;
  }
}

/** Rejects if a cluster is running there. Fails earlier than openHome, for callers that prepare something before. */
export async function checkNotRunning(home: ClusterHome): Promise<void> {
  const { record, process } = await findRunningProcess(home);
  if (process !== undefined) throw new Error(alreadyRunning(home, record, `process ${process.pid}`));
}

interface Taken {
  readonly lock: DirectoryLock;
  readonly isUnused: boolean;
  /** The record of the killed process. */
  readonly before: ClusterRecord | undefined;
}

function held(home: HeldHome["home"], { lock, isUnused, before }: Taken): HeldHome {
  let hasRun = false;
  return {
    home,
    isUnused,
    wasAbandoned: lock.wasAbandoned,
    async writeRecord(record) {
      await writeRecord(home.record, record);
      hasRun ||= record.state === "running";
    },
    async [Symbol.asyncDispose]() {
      try {
        const isStillLeft = before !== undefined && !hasRun && (await fileExists(home.runtimeDirectory));
        await (isStillLeft ? writeRecord(home.record, before) : removeRecord(home.record));
        await lock.release();
      } catch (error) {
        throw explainHomeError(error, home.directory);
      }
    },
  };
}

async function takeHome(home: ClusterHome): Promise<DirectoryLock> {
  const record = await readRecord(home.record);
  const isDead = record !== undefined && !runs(record);
  const attempt = await lockWithRetry(home.runDirectory, { withinMs: isDead ? LET_GO_WITHIN_MS : 0, clock: realClock });
  if ("lock" in attempt) return attempt.lock;
  throw new Error(alreadyRunning(home, record, attempt.heldBy));
}

function alreadyRunning({ name, commandArguments: words }: ClusterHome, record: ClusterRecord | undefined, heldBy: string): string {
  const who = record === undefined ? heldBy : `process ${record.process.pid} (since ${record.since})`;
  return (
    `Cannot start cluster "${name}": it is already running as ${who}; "k8ts status${words}" shows it, "k8ts down${words}" stops it, ` +
    `and "k8ts up --name NAME --listen 127.0.0.1:0" starts another one`
  );
}

function homeOf(choice: HomeChoice, name: string, runtimeDirectory: string | undefined, environment: Environment): ClusterHome {
  const { directory } = choice;
  return { ...homePaths(directory), ...namesOf({ directory, name }, environment), context: contextName(name), runtimeDirectory };
}

/** Name and arguments of a cluster, whether it exists or not. */
export function namesOf(
  { directory, name = DEFAULT_NAME }: HomeChoice,
  environment: Environment,
): Pick<ClusterHome, "name" | "commandArguments"> {
  const isNamedPlace = directory === `${homesDirectory(environment)}/${name}`;
  return { name, commandArguments: homeArguments({ name, directory, isNamedPlace }) };
}

/** Maximum number of unknown files in the message. */
const NAMED_MAX = 3;

/** Prevents that a home is created around other files, which its deletion could remove. */
async function checkFree(directory: string): Promise<void> {
  const strange = (await readdir(directory)).filter((name) => !isOwnEntry(name) && name !== "lost+found");
  if (strange.length === 0) return;
  const named = strange.slice(0, NAMED_MAX).join(", ");
  throw new Error(
    `Cannot use ${directory}: it contains files that do not belong to a cluster (${named}${strange.length > NAMED_MAX ? ", …" : ""}); ` +
      `set --data-dir to an empty or new directory`,
  );
}
