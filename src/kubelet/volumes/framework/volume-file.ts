/**
 * The files of a volume that is made from API objects, and the rules for their paths. Error messages are upstream's, except where upstream
 * leaves the check to the file system.
 */
import { utf8Length } from "../../../base/utf8.ts";
import { VolumeError } from "./volume-error.ts";

export interface VolumeFile {
  readonly data: Uint8Array;
  /** Permission bits, as for chmod. */
  readonly mode: number;
  /** Absent: root. */
  readonly ownerUid?: number;
}

/** By path, relative to the volume. */
export type VolumeFiles = ReadonlyMap<string, VolumeFile>;

/** Linux's PATH_MAX and NAME_MAX. */
const PATH_BYTES_MAX = 4_096;
const NAME_BYTES_MAX = 255;

/** Returns the files with normalized paths ("a/b", not "./a//b"). Throws if a path escapes the volume or conflicts with another. */
export function checkedFiles(files: VolumeFiles): VolumeFiles {
  const clean = new Map<string, VolumeFile>();
  for (const [path, file] of files) {
    checkPath(path);
    clean.set(cleanPath(path), file);
  }
  for (const path of clean.keys()) {
    const taken = parentsOf(path).find((parent) => clean.has(parent));
    if (taken !== undefined) throw new VolumeError(`invalid path: ${path} conflicts with the file ${taken}`);
  }
  return clean;
}

function checkPath(path: string): void {
  if (path === "") throw new VolumeError(`invalid path: must not be empty: ""`);
  if (path.startsWith("/")) throw new VolumeError(`invalid path: must be relative path: ${path}`);
  if (utf8Length(path) > PATH_BYTES_MAX) throw new VolumeError(`invalid path: must be less than or equal to ${PATH_BYTES_MAX} characters`);
  const names = path.split("/");
  for (const name of names) {
    if (name === "..") throw new VolumeError(`invalid path: must not contain '..': ${path}`);
    if (utf8Length(name) > NAME_BYTES_MAX)
      throw new VolumeError(`invalid path: filenames must be less than or equal to ${NAME_BYTES_MAX} characters`);
  }
  // Names with this prefix are reserved for "..data" and its targets.
  if (names[0]?.startsWith("..") === true) throw new VolumeError(`invalid path: must not start with '..': ${path}`);
  if (cleanPath(path) === "") throw new VolumeError(`invalid path: must name a file: ${path}`);
}

function cleanPath(path: string): string {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
}

/** "a/b" and "a" of "a/b/c". */
function parentsOf(path: string): readonly string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}
