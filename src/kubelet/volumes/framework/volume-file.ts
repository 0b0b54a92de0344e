/**
 * What a volume is to hold: files by their path, and the rules that all paths keep. The words of the errors are upstream's, except where
 * upstream leaves it to the file system to object.
 */
import { utf8Length } from "../../../base/utf8.ts";

export interface VolumeFile {
  readonly data: Uint8Array;
  /** As chmod takes it. */
  readonly mode: number;
  /** Whose it is. Absent: root's. */
  readonly ownerUid?: number;
}

/** By path, relative to the volume. */
export type VolumeFiles = ReadonlyMap<string, VolumeFile>;

/** Why a volume cannot have what it should. Told after the words that say which volume it is. */
export class VolumeError extends Error {
  override readonly name: string = "VolumeError";
}

/** A ConfigMap or Secret that it is made of does not exist. */
export class MissingSourceError extends VolumeError {
  override readonly name = "MissingSourceError";
}

/** As Linux has it. */
const PATH_BYTES_MAX = 4_096;
const NAME_BYTES_MAX = 255;

/** With clean paths ("a/b", not "./a//b"). Throws if one leads elsewhere, or two cannot both be. */
export function checkedFiles(files: VolumeFiles): VolumeFiles {
  const clean = new Map<string, VolumeFile>();
  for (const [path, file] of files) {
    checkPath(path);
    clean.set(cleanPath(path), file);
  }
  for (const path of clean.keys()) {
    const taken = parentsOf(path).find((parent) => clean.has(parent));
    if (taken !== undefined) throw new VolumeError(`invalid path: ${path} is to be in ${taken}, which is to be a file`);
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
  // Names that begin so are the volume's own.
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
