/**
 * Opens and closes the data directory of an embedded store: makes it, takes its lock, looks at the file before lmdb maps
 * it, reads the few numbers, and turns everything that can go wrong into an error that names it and what to do.
 */
import { joinPath, makePrivateDirectory, syncDirectory } from "../../host/files.ts";
import { lockDirectory, type DirectoryLock } from "../../host/directory-lock.ts";
import { FIRST_REVISION } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { explainWriteFailure, prepareDataFile, type FileState } from "./data-file.ts";
import { Disk } from "./disk.ts";
import { damaged, revisionOf } from "./records.ts";
import { forgetHalfRestored } from "./restore.ts";
import { isMostlyFree, shrink } from "./shrink.ts";
import { verify } from "./verify.ts";

/** The version of what is in the file. */
const FORMAT = 1;

const DATA_FILE = "store.mdb";

export interface EmbeddedDirectory {
  readonly path: string;
  readonly disk: Disk;
  readonly firstRevision: number;
  readonly revision: number;
  readonly keys: number;
  readonly compacted: number;
  readonly cleaned: number;
  /** `inDoubt`: whether something may be wrong with what was written, so that the next holder has to look closely. */
  close(options: { readonly inDoubt: boolean }): Promise<void>;
}

export async function openDirectory(path: string): Promise<EmbeddedDirectory> {
  const lock = await takeDirectory(path);
  try {
    return await openLocked(path, lock);
  } catch (error) {
    await lock.abandon(); // Not released: the next attempt has to look as closely as this one.
    throw error;
  }
}

async function takeDirectory(path: string): Promise<DirectoryLock> {
  try {
    await makePrivateDirectory(path);
    const attempt = await lockDirectory(path);
    if ("lock" in attempt) return attempt.lock;
    throw new StoreError(
      "Locked",
      `Cannot open ${path}: it is in use by ${attempt.heldBy}; stop that first or choose another data directory`,
    );
  } catch (error) {
    throw error instanceof StoreError ? error : unusable(path, error);
  }
}

async function openLocked(path: string, lock: DirectoryLock): Promise<EmbeddedDirectory> {
  const file = joinPath(path, DATA_FILE);
  const { wasShort } = await prepareFiles(path, file, lock.wasAbandoned);
  let disk = openDisk(file);
  try {
    await prepareContent(disk, path, { wasShort });
    if (isMostlyFree(disk.sizes())) disk = await shrink(disk, file, openDisk);
    await own(disk, path, lock.owner);
    const numbers = readNumbers(disk, path);
    const close = async ({ inDoubt }: { readonly inDoubt: boolean }) => {
      await disk.close();
      await (inDoubt || disk.isInDoubt ? lock.abandon() : lock.release());
    };
    return { path, disk, firstRevision: FIRST_REVISION, ...numbers, close };
  } catch (error) {
    await disk.close();
    throw error;
  }
}

async function prepareFiles(path: string, file: string, abandoned: boolean): Promise<FileState> {
  try {
    return await prepareDataFile(file, { abandoned });
  } catch (error) {
    throw error instanceof StoreError ? error : unusable(path, error);
  }
}

function openDisk(file: string): Disk {
  try {
    return new Disk(file);
  } catch (error) {
    throw error instanceof StoreError ? error : damaged(`${file} cannot be opened (${(error as Error).message})`, error);
  }
}

async function prepareContent(disk: Disk, path: string, { wasShort }: FileState): Promise<void> {
  const format = disk.meta("format");
  if (format === undefined) return writeFirstNumbers(disk, path);
  if (format !== FORMAT) {
    throw new StoreError(
      "Unsupported",
      `Cannot open ${path}: its format is ${format}, this version of k8ts reads format ${FORMAT}; use the version that wrote it`,
    );
  }
  if (disk.meta("restoring") === 1) return forgetHalfRestored(disk, FIRST_REVISION);
  if (wasShort) verify(disk);
}

async function writeFirstNumbers(disk: Disk, path: string): Promise<void> {
  await disk.write(() => {
    disk.putMeta("format", FORMAT);
    disk.putMeta("keys", 0);
    for (const name of ["revision", "compacted", "cleaned"] as const) disk.putMeta(name, FIRST_REVISION);
  });
  await syncDirectory(path);
  await syncDirectory(joinPath(path, ".."));
}

/** Before the numbers are read: whoever wrote until now can no longer change them. */
async function own(disk: Disk, path: string, owner: number): Promise<void> {
  try {
    await disk.own(owner);
  } catch (error) {
    throw await explainWriteFailure(error, path);
  }
}

function readNumbers(
  disk: Disk,
  path: string,
): { readonly revision: number; readonly keys: number; readonly compacted: number; readonly cleaned: number } {
  const [revision, keys, compacted, cleaned] = (["revision", "keys", "compacted", "cleaned"] as const).map((name) => disk.meta(name));
  const contradiction = revision === undefined || revisionOf(disk.lastPosition() ?? 0) > revision || (compacted ?? 0) > revision;
  if (contradiction || keys === undefined || compacted === undefined || cleaned === undefined) {
    throw damaged(`the numbers in ${path} are missing or contradict each other`);
  }
  return { revision, keys, compacted, cleaned };
}

function unusable(path: string, error: unknown): StoreError {
  const { code, message } = error as { code?: string; message: string };
  if (code === "ENOSPC")
    return new StoreError("Full", `Cannot open ${path}: no space left on the disk; make room and try again`, { cause: error });
  return new StoreError("Unusable", `Cannot open ${path}: ${message}; choose a data directory that this user can write to`, {
    cause: error,
  });
}
