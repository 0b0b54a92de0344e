/**
 * File and mount operations that volume plugins need from the node's kernel. Paths are absolute and free of symbolic links. Only types;
 * machine/volumes/linux-mounter.ts implements them, testing/memory-mounter.ts is for tests.
 */
import type { VolumeFiles } from "./volume-file.ts";

export type FileKind = "directory" | "file" | "socket" | "character-device" | "block-device" | "other";

export interface Mounter {
  /** Follows symbolic links. Undefined if the path does not exist or cannot be accessed. */
  fileKind(path: string): Promise<FileKind | undefined>;
  /** Creates missing directories of the path with exactly this mode; existing ones keep theirs. */
  makeDirectories(path: string, mode: number): Promise<void>;
  /** Creates an empty file; an existing one is left as it is. */
  touchFile(path: string, mode: number): Promise<void>;
  isMountPoint(path: string): Promise<boolean>;
  /** Mounts an empty tmpfs. Rejects if this process is not allowed to mount. */
  mountTmpfs(path: string, options: { readonly sizeBytes?: number }): Promise<void>;
  /** Unmounts everything at and below the path, innermost first. Does nothing if there is no mount. */
  unmount(path: string): Promise<void>;
  /** Changes the group of everything below a directory and of itself, with modes computed from the current ones. */
  changeGroup(path: string, groupId: number, modeFor: (mode: number, entry: { readonly isDirectory: boolean }) => number): Promise<void>;
  /** Whether `writeFiles` has completed on this directory before. */
  hasFiles(path: string): Promise<boolean>;
  /** Replaces all files of an existing directory atomically; `beforePublish` runs when they are written and not visible yet. */
  writeFiles(path: string, files: VolumeFiles, options: { beforePublish(): Promise<void> }): Promise<void>;
}
