/**
 * The storage of a node on its disk: a directory per volume, or an image file on a loop device with a stable symbolic link. Below one
 * private directory:
 *
 *     directories/NAME   content of a volume without a limit
 *     images/NAME        sparse file of a volume with a limit; its size is the limit
 *     devices/NAME       link to the loop device of the image, renewed after a reboot
 *     unconfirmed/NAME   empty file: the volume was created, its PersistentVolume perhaps not
 *     deleted/NAME       content that is being removed
 *
 * A volume is moved to `deleted` first, so that an interrupted removal is continued at the next start and never leaves half of a volume.
 * Containers may still write to it meanwhile and replace directories by links, so removal follows none. Names come from claims' uids
 * (api/local-path.ts): nothing outside of the directory is ever reached.
 */
import { assert } from "../../base/assert.ts";
import type { Logger } from "../../base/logger.ts";
import { directoryUsage } from "../../host/files/directory-usage.ts";
import {
  extendFile,
  fileExists,
  fileSizeBytes,
  freeBytes,
  joinPath,
  makePrivateDirectory,
  moveFile,
  PRIVATE_FILE_MODE,
  removeFile,
  syncDirectory,
} from "../../host/files/files.ts";
import { makeDirectories, namesIn, realPathOf, touchFile } from "../../host/files/shared-directory.ts";
import { removeUntrustedTree, replaceLink } from "../../host/files/untrusted-tree.ts";
import {
  attachLoopDevice,
  detachLoopDevice,
  findLoopDevice,
  isLoopDeviceMounted,
  resizeLoopDevice,
} from "../../host/kernel/loop-devices.ts";
import { findProgram } from "../../host/processes/find-program.ts";
import { RefusedVolumeError, type FileSystemType, type LocalVolumes, type VolumeStorage } from "../local-volumes.ts";
import { claimUidOf } from "../../api/local-path.ts";

/** Containers run as any user; other users of the machine are stopped by the private directory above. */
const VOLUME_MODE = 0o777;

export interface VolumesOnDiskOptions {
  readonly directory: string;
  readonly log: Logger;
}

/** Continues interrupted removals and attaches all images, so that Pods of an earlier start find their volumes. */
export async function openVolumesOnDisk(options: VolumesOnDiskOptions): Promise<VolumesOnDisk> {
  await makePrivateDirectory(options.directory);
  // The kubelet mounts paths without links.
  const directory = await realPathOf(options.directory);
  for (const part of ["directories", "images", "devices", "unconfirmed", "deleted"]) await makePrivateDirectory(joinPath(directory, part));
  const volumes = new VolumesOnDisk({ ...options, directory }, await namesIn(joinPath(directory, "unconfirmed")));
  await volumes.recover();
  return volumes;
}

export class VolumesOnDisk implements LocalVolumes {
  readonly #options: VolumesOnDiskOptions;
  readonly #unconfirmed: Set<string>;
  /** Images whose devices this process has seen attached. */
  readonly #attached = new Set<string>();
  /** Space is promised by one request at a time. */
  #promising: Promise<void> = Promise.resolve();

  constructor(options: VolumesOnDiskOptions, unconfirmed: readonly string[]) {
    this.#options = options;
    this.#unconfirmed = new Set(unconfirmed);
  }

  get unconfirmed(): ReadonlySet<string> {
    return this.#unconfirmed;
  }

  path(name: string, storage: VolumeStorage["is"]): string {
    return this.#at(storage === "image" ? "devices" : "directories", name);
  }

  async create(name: string, storage: VolumeStorage): Promise<void> {
    if (storage.is === "image") return this.#inTurn(() => this.#createImage(name, storage));
    await this.#mark(name);
    await makeDirectories(this.path(name, "directory"), VOLUME_MODE);
    await syncDirectory(joinPath(this.#options.directory, "directories"));
  }

  async confirm(name: string): Promise<void> {
    if (!this.#unconfirmed.has(name)) return;
    await removeFile(this.#at("unconfirmed", name));
    this.#unconfirmed.delete(name);
  }

  async attach(name: string): Promise<void> {
    if (this.#attached.has(name) || !(await fileExists(this.#at("images", name)))) return;
    const device = await attachLoopDevice(this.#at("images", name));
    await replaceLink(this.path(name, "image"), device);
    this.#attached.add(name);
  }

  async grow(name: string, sizeBytes: number): Promise<void> {
    await this.#inTurn(async () => {
      const image = this.#at("images", name);
      const currentBytes = await fileSizeBytes(image);
      if (currentBytes < sizeBytes) {
        await this.#checkSpace(sizeBytes - currentBytes);
        await extendFile(image, sizeBytes);
      }
      // Also if an earlier attempt got no further than the file.
      await resizeLoopDevice(await attachLoopDevice(image));
    });
  }

  async delete(name: string): Promise<void> {
    const image = this.#at("images", name);
    if (await fileExists(image)) await this.#detach(image);
    this.#attached.delete(name);
    await removeFile(this.path(name, "image"));
    for (const path of [image, this.path(name, "directory")]) if (await fileExists(path)) await this.#moveAway(path, name);
    await removeUntrustedTree(this.#at("deleted", name));
    await this.confirm(name);
  }

  /** At the start, before any Pod. A device that cannot be attached now is tried again with its volume. */
  async recover(): Promise<void> {
    const { directory, log } = this.#options;
    const attempt = async (operation: string, volume: string, work: Promise<void>): Promise<void> =>
      work.catch((error: unknown) => log.error(`${operation} failed`, { volume, error }));
    for (const name of await namesIn(joinPath(directory, "deleted")))
      await attempt("Removing a deleted volume", name, removeUntrustedTree(joinPath(directory, "deleted", name)));
    for (const name of await namesIn(joinPath(directory, "images")))
      if (claimUidOf(name) !== undefined) await attempt("Attaching a volume to a loop device", name, this.attach(name));
  }

  async #createImage(name: string, { sizeBytes, fsType }: VolumeStorage & { readonly is: "image" }): Promise<void> {
    this.#checkPrograms(fsType);
    const image = this.#at("images", name);
    const currentBytes = (await fileExists(image)) ? await fileSizeBytes(image) : 0;
    if (currentBytes < sizeBytes) {
      await this.#checkSpace(sizeBytes - currentBytes);
      await this.#mark(name);
      await touchFile(image, PRIVATE_FILE_MODE);
      await extendFile(image, sizeBytes);
      await syncDirectory(joinPath(this.#options.directory, "images"));
    }
    await this.attach(name);
  }

  /** Before the first file of the volume, durably. */
  async #mark(name: string): Promise<void> {
    await touchFile(this.#at("unconfirmed", name), PRIVATE_FILE_MODE);
    await syncDirectory(joinPath(this.#options.directory, "unconfirmed"));
    this.#unconfirmed.add(name);
  }

  async #detach(image: string): Promise<void> {
    const device = await findLoopDevice(image);
    if (device === undefined) return;
    if (await isLoopDeviceMounted(device)) throw new Error(`Cannot remove ${image}: its device ${device} is still mounted; it is retried`);
    await detachLoopDevice(device);
  }

  async #moveAway(path: string, name: string): Promise<void> {
    // What an earlier removal left.
    await removeUntrustedTree(this.#at("deleted", name));
    await moveFile(path, this.#at("deleted", name));
    await syncDirectory(joinPath(this.#options.directory, "deleted"));
  }

  #checkPrograms(fsType: FileSystemType | undefined): void {
    const needed = [
      { program: "losetup", package: "mount" },
      ...(fsType === undefined ? [] : [{ program: `mkfs.${fsType}`, package: fsType === "xfs" ? "xfsprogs" : "e2fsprogs" }]),
    ];
    for (const { program, package: from } of needed) {
      if (findProgram(program, undefined) === undefined)
        throw new RefusedVolumeError(`${program} is not installed on the node (Debian: apt-get install ${from})`);
    }
  }

  /** Sparse files take their space later: what was promised to them is not free. */
  async #checkSpace(sizeBytes: number): Promise<void> {
    const { directory } = this.#options;
    const names = await namesIn(joinPath(directory, "images"));
    const promised = await Promise.all(names.map((name) => unwrittenBytes(joinPath(directory, "images", name))));
    const leftBytes = (await freeBytes(directory)) - promised.reduce((sum, bytes) => sum + bytes, 0);
    if (sizeBytes > leftBytes)
      throw new RefusedVolumeError(
        `not enough space on the node: ${roundedSize(sizeBytes)} are needed and ${roundedSize(Math.max(0, leftBytes))} are neither used nor promised to other volumes`,
      );
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#promising.then(work);
    this.#promising = mine.catch(() => {}); // Reported to its caller.
    await mine;
  }

  #at(part: string, name: string): string {
    assert(claimUidOf(name) !== undefined, "the name of a volume on disk is made from the uid of its claim");
    return joinPath(this.#options.directory, part, name);
  }
}

const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

/** "58Gi", "1.5Gi". Rounded, because events are aggregated by their text: it must not change with every block that is written. */
export function roundedSize(sizeBytes: number): string {
  const index = sizeBytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(sizeBytes) / 10));
  const size = sizeBytes / 1024 ** index;
  return `${size < 10 ? Math.floor(size * 10) / 10 : Math.floor(size)}${UNITS[index]}`;
}

/** Bytes of a sparse file that have no place on the disk yet. */
async function unwrittenBytes(image: string): Promise<number> {
  const usage = await directoryUsage(image, { entriesMax: 1 });
  return usage === undefined ? 0 : Math.max(0, (await fileSizeBytes(image)) - usage.usedBytes);
}
