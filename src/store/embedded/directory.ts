/**
 * Opens and closes the data directory of an embedded store: creates it, takes its lock, validates the file before lmdb maps it, reads the
 * metadata, and turns every failure into an error that names it and its remedy.
 */
import { joinPath, removeFile, syncDirectory } from "../../host/files/files.ts";
import { claimPrivateDirectory } from "../../host/files/private-files.ts";
import { UntrustedPathError } from "../../host/files/trusted-path.ts";
import { lockDirectory, type DirectoryLock } from "../../host/files/directory-lock.ts";
import { legacyKeyToCurrent } from "../legacy-keys.ts";
import { FIRST_REVISION } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { explainWriteFailure, prepareDataFile, type FileState } from "./data-file.ts";
import { Disk, FORMAT } from "./disk.ts";
import { isLegacyFile } from "./legacy-layout.ts";
import { MIGRATING_SUFFIX, migrate } from "./migrate.ts";
import { damaged } from "./records.ts";
import { forgetHalfRestored } from "./restore.ts";
import { hasMuchToReturn, isMostlyFree, shrink, SMALLER_SUFFIX } from "./shrink.ts";
import { verify } from "./verify.ts";

const DATA_FILE = "store.mdb";

export interface EmbeddedDirectory {
  readonly path: string;
  readonly disk: Disk;
  readonly firstRevision: number;
  readonly revision: number;
  readonly keys: number;
  readonly compacted: number;
  readonly cleaned: number;
  /** Moves the data to a smaller file if most of this one is free. Returns whether it did. Only commits may be in flight. */
  shrink(signal: AbortSignal): Promise<boolean>;
  /** `inDoubt`: whether the last write may be damaged, so that the next holder must check thoroughly. */
  close(options: { readonly inDoubt: boolean }): Promise<void>;
}

export interface DirectoryOptions {
  readonly shrinkAboveBytes?: number;
}

export async function openDirectory(path: string, options: DirectoryOptions = {}): Promise<EmbeddedDirectory> {
  const lock = await takeDirectory(path);
  try {
    return await openLocked(path, lock, options);
  } catch (error) {
    await lock.abandon(); // Not released: the next attempt must check as thoroughly as this one.
    throw error;
  }
}

async function takeDirectory(path: string): Promise<DirectoryLock> {
  try {
    await claimPrivateDirectory(path, (name) => name.startsWith(DATA_FILE));
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

async function openLocked(path: string, lock: DirectoryLock, options: DirectoryOptions): Promise<EmbeddedDirectory> {
  const file = joinPath(path, DATA_FILE);
  await removeLeftovers(file);
  const { wasShort } = await prepareFiles(path, file, lock.wasAbandoned);
  if (await isLegacyFile(file)) await migrate({ file, open: openDisk, currentKey: legacyKeyToCurrent });
  const disk = openDisk(file);
  try {
    await prepareContent(disk, path, { wasShort });
    if (isMostlyFree(disk.sizes())) await shrink({ disk, file, open: openDisk });
    await own(disk, path, lock.owner);
    const numbers = readNumbers(disk, path);
    const close = async ({ inDoubt }: { readonly inDoubt: boolean }) => {
      await disk.close();
      await (inDoubt || disk.isInDoubt ? lock.abandon() : lock.release());
    };
    const shrinkOpen = async (signal: AbortSignal) =>
      hasMuchToReturn(disk.sizes(), options.shrinkAboveBytes) && !disk.isInDoubt && (await shrink({ disk, file, open: openDisk, signal }));
    return { path, disk, firstRevision: FIRST_REVISION, ...numbers, shrink: shrinkOpen, close };
  } catch (error) {
    await disk.close();
    throw error;
  }
}

/** Removes leftovers of a process that died while it moved the data to a new file. */
async function removeLeftovers(file: string): Promise<void> {
  for (const copy of [`${file}${SMALLER_SUFFIX}`, `${file}${MIGRATING_SUFFIX}`]) {
    for (const name of [copy, `${copy}-lock`]) await removeFile(name);
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

/** Before the metadata is read: the previous owner can no longer change it. */
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
  const [compacted, cleaned, newest] = [disk.meta("compacted"), disk.meta("cleaned"), disk.newest()];
  if (newest === undefined || compacted === undefined || cleaned === undefined || compacted > newest.revision || cleaned > compacted) {
    throw damaged(`the numbers in ${path} are missing or contradict each other`);
  }
  return { ...newest, compacted, cleaned };
}

function unusable(path: string, error: unknown): StoreError {
  if (error instanceof UntrustedPathError) {
    const which = error.path === path ? error.why : error.why.replace(/^it /, `${error.path} `);
    return new StoreError("Unusable", `Cannot open ${path}: ${which}; ${error.remedy}, or choose another data directory`, { cause: error });
  }
  const { code, message } = error as { code?: string; message: string };
  if (code === "ENOSPC")
    return new StoreError("Full", `Cannot open ${path}: no space left on the disk; make room and try again`, { cause: error });
  return new StoreError("Unusable", `Cannot open ${path}: ${message}; choose a data directory that this user can write to`, {
    cause: error,
  });
}
