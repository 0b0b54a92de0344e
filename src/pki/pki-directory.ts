/**
 * Certificates and keys of a cluster in a directory, with kubeadm's file names, readable only by their owner. Several API servers can share
 * it and start on an empty one concurrently: a writer takes the directory's lock and checks again first. Reading needs no lock, so a
 * read-only directory is sufficient while all files are valid. Kubeconfigs of components are in `kubeconfigs` inside it: all secrets are in
 * one place.
 */
import { readdir, readFile } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { lockDirectory, type DirectoryLock, type LockAttempt } from "../host/files/directory-lock.ts";
import { isDiskFull, joinPath, makePrivateDirectory, removeFile } from "../host/files/files.ts";
import { keepPrivate, writePrivateText } from "../host/files/private-files.ts";
import { FILE_NAMES, namingFiles, PkiError, type PkiFiles } from "./complete-pki.ts";
import type { PkiPlace } from "./pki.ts";

/** Retry interval for the lock, which is held while a few files are written; there is no event for its release. */
const LOCK_RETRY_MS = 20;
/** After this time the holder is not just writing files. */
const LOCK_WAIT_MS = 10_000;

/** Private keys first, so that a certificate always has its key. */
const WRITTEN_TOGETHER = [FILE_NAMES.filter((name) => name.endsWith(".key")), FILE_NAMES.filter((name) => !name.endsWith(".key"))];

export function pkiDirectory(directory: string, clock: Clock): PkiPlace {
  return {
    isShared: true,
    pathOf: (file) => joinPath(directory, file),
    async complete(missing) {
      const present = await clock.external(readFiles(directory));
      await clock.external(keepFilesPrivate(directory, present));
      if (!isAnyMissing(present, missing)) return present;
      const lock = await lockOf(directory, clock);
      try {
        return await clock.external(writeMissing(directory, missing));
      } finally {
        await clock.external(lock.release());
      }
    },
  };
}

/** Problems are reported only with the lock: without it, another process may be writing. */
function isAnyMissing(files: PkiFiles, missing: (files: PkiFiles) => PkiFiles): boolean {
  // Without creating keys and certificates that are created again with the lock.
  if (Object.keys(files).length === 0) return true;
  try {
    return Object.keys(missing(files)).length > 0;
  } catch (error) {
    if (error instanceof PkiError) return true;
    throw error;
  }
}

async function writeMissing(directory: string, missing: (files: PkiFiles) => PkiFiles): Promise<PkiFiles> {
  const present = await readFiles(directory);
  const made = namingFiles(
    (file) => joinPath(directory, file),
    () => missing(present),
  );
  await inDirectory(directory, async () => {
    await removePartial(directory);
    for (const names of WRITTEN_TOGETHER) {
      await writeAll(directory, made, names);
    }
  });
  return { ...present, ...made };
}

/** Concurrently. Waits for all of them, since none may be written without the lock. */
async function writeAll(directory: string, texts: PkiFiles, names: readonly string[]): Promise<void> {
  const writes = names.flatMap((name) => (texts[name] === undefined ? [] : [writePrivateText(joinPath(directory, name), texts[name])]));
  for (const written of await Promise.allSettled(writes)) if (written.status === "rejected") throw written.reason;
}

async function lockOf(directory: string, clock: Clock): Promise<DirectoryLock> {
  const giveUpAtMs = clock.monotonic() + LOCK_WAIT_MS;
  for (;;) {
    const attempt = await clock.external(tryLock(directory));
    if ("lock" in attempt) return attempt.lock;
    if (clock.monotonic() >= giveUpAtMs) {
      throw new Error(`Cannot lock ${directory}: ${attempt.heldBy} has held the lock for ${LOCK_WAIT_MS} ms; stop it and try again`);
    }
    await clock.sleep(LOCK_RETRY_MS);
  }
}

function tryLock(directory: string): Promise<LockAttempt> {
  return inDirectory(directory, async () => {
    await makePrivateDirectory(directory);
    return lockDirectory(directory);
  });
}

/** Removes partially written files of a dead process. */
async function removePartial(directory: string): Promise<void> {
  for (const name of await readdir(directory)) if (name.endsWith(".partial")) await removeFile(joinPath(directory, name));
}

async function readFiles(directory: string): Promise<PkiFiles> {
  const texts = await Promise.all(FILE_NAMES.map(async (name) => [name, await readText(joinPath(directory, name))] as const));
  return Object.fromEntries(texts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
}

async function keepFilesPrivate(directory: string, present: PkiFiles): Promise<void> {
  await Promise.all([directory, ...Object.keys(present).map((name) => joinPath(directory, name))].map(keepPrivate));
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(
      `Cannot read ${path}: ${(error as Error).message}; grant this user read permission, or choose another directory with --cert-dir`,
      {
        cause: error,
      },
    );
  }
}

async function inDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error))
      throw new Error(`Cannot write to ${directory}: no space is left on the disk; free some (see df -h)`, { cause: error });
    throw new Error(`Cannot write to ${directory}: ${(error as Error).message}; choose a writable directory with --cert-dir`, {
      cause: error,
    });
  }
}
