/**
 * Opens files in directories that containers or their users may write to (logs, termination messages, volumes). Such a file may be replaced
 * by a link to a secret of the machine, by a FIFO, whose opening would never return, or by a device: only regular files are opened, no link
 * is followed, and nothing blocks. Not here: opening what may be created on the way (open-within.ts).
 */
import { constants } from "node:fs";
import { open, readlink, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** The path names something other than a regular file, such as a symbolic link or a FIFO. */
export class NotRegularFileError extends Error {
  override readonly name = "NotRegularFileError";
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Directories that must not be links: those of the container and of the Pod. Those above belong to the administrator. */
const CHECKED_DIRECTORIES = 2;

/** Rejects with the system's error if it does not exist, with a NotRegularFileError if it is something else. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ELOOP") throw new NotRegularFileError(`"${path}" is a symbolic link, and links are not followed`);
    // From a socket, or a device without a driver.
    if (error.code === "ENXIO") throw new NotRegularFileError(`"${path}" is not a regular file`);
    throw error;
  });
  return checked(file, path);
}

/** Same, and its directory and the one above must not be links. */
export async function openRegularFileInPlace(path: string): Promise<FileHandle> {
  const file = await openRegularFile(path);
  // Without /proc there are no containers.
  const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => path);
  if (directoriesOf(real) === directoriesOf(path)) return file;
  await file.close();
  throw new NotRegularFileError(`"${path}" is in a directory that is a symbolic link, and links are not followed`);
}

/** Opens a file that is held by O_PATH (open-within.ts) for reading. */
export async function openHeldFile(place: FileHandle, name: string): Promise<FileHandle> {
  if (!(await place.stat()).isFile()) throw new NotRegularFileError(`"${name}" is not a regular file`);
  return open(`/proc/self/fd/${place.fd}`, constants.O_RDONLY);
}

async function checked(file: FileHandle, name: string): Promise<FileHandle> {
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw new NotRegularFileError(`"${name}" is not a regular file`);
}

/** The file's own name is not compared: it may have been rotated meanwhile. */
function directoriesOf(path: string): string {
  const names: string[] = [];
  let directory = dirname(path);
  for (let count = 0; count < CHECKED_DIRECTORIES; count++) {
    names.push(basename(directory));
    directory = dirname(directory);
  }
  return names.join("/");
}
