/**
 * The home of a cluster on this machine: made if there is none, refused if it is not a home or of a version that is not known here, and
 * held by one process at a time. Whoever finds it held is told by whom, and what to do.
 * Not here: where things lie in it (home-paths.ts), the deletion of it (remove-home.ts).
 */
import { readdir, readFile } from "node:fs/promises";
import type { DirectoryLock } from "../../host/directory-lock.ts";
import { fileExists, joinPath, makePrivateDirectory } from "../../host/files.ts";
import { writePrivateText } from "../../host/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Environment } from "../command.ts";
import { readRecord, removeRecord, runs, writeRecord, type ClusterRecord } from "./cluster-record.ts";
import { homeArguments, type HomeChoice } from "./home-flags.ts";
import { contextName, DEFAULT_NAME, homePaths, homesDirectory, isMadeEmpty, isOwnEntry, type HomePaths } from "./home-paths.ts";
import { LET_GO_WITHIN_MS, lockSoon } from "./lock-soon.ts";
import { findRuntimeDirectory, makeRuntimeDirectory } from "./runtime-directory.ts";
import { explainFileError, explainForeignHome } from "./start-errors.ts";

/** The version of how a home is laid out. One more with every change that an older k8ts could not live with. */
const FORMAT = 1;

export interface ClusterHome extends HomePaths {
  readonly name: string;
  /** In a kubeconfig that holds others, too. */
  readonly context: string;
  /** For sockets. Undefined: none was made, or it is gone. */
  readonly runtimeDirectory: string | undefined;
  /** What names this cluster on a command line, with a blank before it; "" for the default one. */
  readonly commandArguments: string;
}

/** A home that this process holds. Disposing of it lets go and removes the record. */
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
 * `k8ts apiserver`. Rejects if it is of a newer version, or if this user may not look into it.
 */
export async function findHome(choice: HomeChoice, environment: Environment): Promise<ClusterHome | undefined> {
  const marker = await readMarker(choice.directory).catch((error: unknown) => {
    throw explainForeignHome(error, choice.directory);
  });
  if (marker === undefined && !(await fileExists(joinPath(choice.directory, "store.mdb")))) return undefined;
  const name = marker?.name ?? choice.name ?? DEFAULT_NAME;
  return homeOf(choice, name, await findRuntimeDirectory(choice.directory, environment), environment);
}

/** Makes it, if it may be made there, and holds nothing. */
export async function prepareHome(choice: HomeChoice, environment: Environment): Promise<ClusterHome> {
  const { directory } = choice;
  const paths = homePaths(directory);
  try {
    await makePrivateDirectory(directory);
    const marker = await readMarker(directory);
    if (marker === undefined) await checkFree(directory);
    const name = choice.name ?? marker?.name ?? DEFAULT_NAME;
    if (marker?.name !== name) await writePrivateText(paths.marker, `${JSON.stringify({ format: FORMAT, name })}\n`);
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
  const lock = await takeHome(home);
  try {
    const isUnused = (await readdir(home.directory)).every(isMadeEmpty);
    return held({ ...home, runtimeDirectory: await makeRuntimeDirectory(home.directory, environment) }, { lock, isUnused });
  } catch (error) {
    await lock.abandon();
    throw error;
  }
}

/** Rejects if a cluster runs there. Sooner than openHome would, for who has to prepare something before it is opened. */
export async function checkNotRunning(home: ClusterHome): Promise<void> {
  const record = await readRecord(home.record);
  if (record !== undefined && runs(record)) throw new Error(alreadyRunning(home, record, ""));
}

function held(home: HeldHome["home"], { lock, isUnused }: { readonly lock: DirectoryLock; readonly isUnused: boolean }): HeldHome {
  return {
    home,
    isUnused,
    wasAbandoned: lock.wasAbandoned,
    writeRecord: (record) => writeRecord(home.record, record),
    async [Symbol.asyncDispose]() {
      await removeRecord(home.record);
      await lock.release();
    },
  };
}

async function takeHome(home: ClusterHome): Promise<DirectoryLock> {
  const record = await readRecord(home.record);
  const isDead = record !== undefined && !runs(record);
  const attempt = await lockSoon(home.runDirectory, { withinMs: isDead ? LET_GO_WITHIN_MS : 0, clock: realClock });
  if ("lock" in attempt) return attempt.lock;
  throw new Error(alreadyRunning(home, record, attempt.heldBy));
}

function alreadyRunning({ name, commandArguments: words }: ClusterHome, record: ClusterRecord | undefined, heldBy: string): string {
  const who = record === undefined ? heldBy : `process ${record.process.pid} (since ${record.since})`;
  return (
    `Cannot start cluster "${name}": it runs already, as ${who}; "k8ts status${words}" shows it, "k8ts down${words}" stops it, ` +
    `and "k8ts up --name NAME --listen 127.0.0.1:0" starts another beside it`
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

interface Marker {
  readonly name: string;
}

/** Undefined if there is none. */
async function readMarker(directory: string): Promise<Marker | undefined> {
  const { marker } = homePaths(directory);
  const text = await readFile(marker, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { format, name } = parsedMarker(text, marker);
  // What else is in a newer one is not known here.
  if (typeof format === "number" && format > FORMAT)
    throw new Error(
      `Cannot use ${directory}: a newer version of k8ts has written it (format ${format}, this version knows up to ${FORMAT}); ` +
        `use that version, or give another directory with --data-dir`,
    );
  if (typeof format !== "number" || typeof name !== "string")
    throw new Error(`Cannot use ${directory}: ${marker} is damaged; give another directory with --data-dir, or remove that file`);
  return { name };
}

function parsedMarker(text: string, path: string): { readonly format?: unknown; readonly name?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    throw new Error(`Cannot read ${path}: ${(error as Error).message}; give another directory with --data-dir, or remove that file`, {
      cause: error,
    });
  }
}

/** How many strange files are named. */
const NAMED_MAX = 3;

/** So that no home is ever made around files of somebody else, which its deletion could take along. */
async function checkFree(directory: string): Promise<void> {
  const strange = (await readdir(directory)).filter((name) => !isOwnEntry(name) && name !== "lost+found");
  if (strange.length === 0) return;
  const named = strange.slice(0, NAMED_MAX).join(", ");
  throw new Error(
    `Cannot use ${directory}: it holds files that are not a cluster's (${named}${strange.length > NAMED_MAX ? ", …" : ""}); ` +
      `give a directory that is empty or new with --data-dir`,
  );
}
