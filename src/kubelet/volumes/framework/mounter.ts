/**
 * File and mount operations that volume plugins need from the node's kernel. Paths are absolute and free of symbolic links. Only types;
 * machine/volumes/linux-mounter.ts implements them, testing/memory-mounter.ts is for tests.
 */
import type { VolumeFiles } from "./volume-file.ts";

export type FileKind = "directory" | "file" | "socket" | "character-device" | "block-device" | "other";

/** Options of mount(8) without "-o": "ro", "noatime", "size=1m". */
export type MountOptions = readonly string[];

export interface DeviceMount {
  /** Block device, or what the file system takes for one: "server:/export". */
  readonly device: string;
  readonly path: string;
  /** "ext4", "nfs4". */
  readonly fileSystem: string;
  readonly options: MountOptions;
}

/** Owner and mode of a file. */
export interface FileRights {
  readonly groupId: number;
  readonly mode: number;
}

export interface Mounter {
  /** Follows symbolic links. Undefined if the path does not exist or cannot be accessed. */
  fileKind(path: string): Promise<FileKind | undefined>;
  /** Names in a directory, sorted; empty if it does not exist. */
  namesIn(path: string): Promise<readonly string[]>;
  /** Creates missing directories of the path with exactly this mode; existing ones keep theirs. */
  makeDirectories(path: string, mode: number): Promise<void>;
  /** Creates an empty file; an existing one is left as it is. */
  touchFile(path: string, mode: number): Promise<void>;
  /** Undefined if the path does not exist. */
  rightsOf(path: string): Promise<FileRights | undefined>;
  /** Removes an empty directory, a symbolic link or an empty file; nothing if it is missing. Never recursive. */
  removeEmpty(path: string): Promise<void>;
  /** Contents of a small file of a plugin's own; undefined if it is missing. */
  readText(path: string): Promise<string | undefined>;
  /** Replaces such a file atomically; only the kubelet's user can read it. Its directory exists. */
  writeText(path: string, text: string): Promise<void>;
  /** Removes such a file; nothing if it is missing. */
  removeFile(path: string): Promise<void>;
  /** Creates a symbolic link, or replaces one that has another target. */
  link(path: string, target: string): Promise<void>;
  /** Whether a file system begins at the path. A bind mount from the same file system is not detected. */
  isMountPoint(path: string): Promise<boolean>;
  /** Whether something is mounted exactly here, bind mounts included, by the kernel's mount table. */
  isMountedAt(path: string): Promise<boolean>;
  /** Mounts a file or directory at another path, which exists. */
  bindMount(source: string, path: string, options: MountOptions): Promise<void>;
  mountDevice(mount: DeviceMount): Promise<void>;
  /** Type of the file system on a block device, such as "ext4"; undefined if the device is empty. Rejects if it holds anything else. */
  fileSystemOn(device: string): Promise<string | undefined>;
  /** Creates a file system on an empty block device. Rejects if the program for it is not installed. */
  format(device: string, fileSystem: string): Promise<void>;
  /** Corrects what is safe to correct on an unmounted file system. Rejects if errors remain. */
  repair(device: string): Promise<void>;
  /** Grows an unmounted file system to the size of its device, if its type can be grown so; otherwise does nothing. */
  growUnmounted(device: string): Promise<void>;
  /** Grows a mounted file system to the size of its device; does nothing if it is that large already. */
  growFileSystem(device: string, path: string): Promise<void>;
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
