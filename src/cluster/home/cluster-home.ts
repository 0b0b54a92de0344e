/**
 * The home of a cluster on this machine: made if there is none, refused if it is not a home or of a version that is not known here, and
 * held by one process at a time. Whoever finds it held is told by whom, and what to do.
 * Not here: where things lie in it (home-paths.ts), of which version it is (home-marker.ts), the deletion of it (remove-home.ts).
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
  /** In a kubeconfig that holds others, too; if somebody else has that name there, it has a number after it. */
  readonly context: string;
  /** For sockets. Undefined: none was made, or it is gone. */
  readonly runtimeDirectory: string | undefined;
  /** What names this cluster on a command line, with a blank before it; "" for the default one. */
  readonly commandArguments: string;
}

/**
 * A home that this process holds. Disposing of it lets go and removes the record. But if what ran before was killed, left something on the
 * machine that is still there, and this process did not get as far as to run in its place, it is the record of that again.
 */
export interface HeldHome extends AsyncDisposable {
  readonly home: ClusterHome & { readonly runtimeDirectory: string };
  /** What ran before was killed: what it left on the machine may still be there. */
  readonly wasAbandoned: boolean;
  /** Nothing has ever run in it. */
  readonly isUnused: boolean;
  writeRecord(record: ClusterRecord): Promise<void>;
}

/**
 * Undefined if there is no such directory or it is no home. One that has only a store is from before there were markers, or of
 * `k8ts apiserver`. Rejects if it is of a newer version, if this user may not look into it, or if another user could have written it.
 */
export async function findHome(choice: HomeChoice, environment: Environment): Promise<ClusterHome | undefined> {
  const marker = await trustedMarker(choice.directory, environment).catch((error: unknown) => {
    throw explainForeignHome(error, choice.directory);
  });
  if (marker === undefined && !(await fileExists(joinPath(choice.directory, "store.mdb")))) return undefined;
  const name = marker?.name ?? choice.name ?? DEFAULT_NAME;
  return homeOf(choice, name, await findRuntimeDirectory(choice.directory, environment), environment);
}

/** What is no home is not checked: there is nothing to believe. */
async function trustedMarker(directory: string, environment: Environment): Promise<HomeMarker | undefined> {
  const names: readonly string[] = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  if (!names.includes(MARKER_FILE) && !names.includes("store.mdb")) return undefined;
  await checkTrustedHome(directory, environment);
  return readHomeMarker(directory);
}

/** Makes it, if it may be made there, and holds nothing. */
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

/** Rejects if somebody else holds it. */
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

/** Rejects if a cluster runs there. Sooner than openHome would, for who has to prepare something before it is opened. */
export async function checkNotRunning(home: ClusterHome): Promise<void> {
  const { record, process } = await findRunningProcess(home);
  if (process !== undefined) throw new Error(alreadyRunning(home, record, `process ${process.pid}`));
}

interface Taken {
  readonly lock: DirectoryLock;
  readonly isUnused: boolean;
  /** Of what was killed. */
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

/** What a cluster is called, and how on a command line, whether it is there or not. */
export function namesOf(
  { directory, name = DEFAULT_NAME }: HomeChoice,
  environment: Environment,
): Pick<ClusterHome, "name" | "commandArguments"> {
  const isNamedPlace = directory === `${homesDirectory(environment)}/${name}`;
  return { name, commandArguments: homeArguments({ name, directory, isNamedPlace }) };
}

/** How many strange files are named. */
const NAMED_MAX = 3;

/** So that no home is ever made around files of somebody else, which its deletion could take along. */
async function checkFree(directory: string): Promise<void> {
  const strange = (await readdir(directory)).filter((name) => !isOwnEntry(name) && name !== "lost+found");
  if (strange.length === 0) return;
  const named = strange.slice(0, NAMED_MAX).join(", ");
  throw new Error(
    `Cannot use ${directory}: it contains files that do not belong to a cluster (${named}${strange.length > NAMED_MAX ? ", …" : ""}); ` +
      `set --data-dir to an empty or new directory`,
  );
}
