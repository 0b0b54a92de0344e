/**
 * The volumes of the CSI driver for tests, on disk below one directory, so that a restarted driver continues:
 *
 *     ID/volume.json   size, kind, nodes
 *     ID/paths.json    where it is mounted or was about to be
 *     ID/image         content: a file system, or the content of a block device, on a loop device while it is used
 *     ID/data          content without loop devices
 *
 * Not here: what the calls of CSI mean (csi-test-driver.ts).
 */
import { mkdir, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { format, growFileSystem, growUnmounted } from "../../host/kernel/file-systems.ts";
import { attachLoopDevice, detachLoopDevice, findLoopDevice, resizeLoopDevice } from "../../host/kernel/loop-devices.ts";
import { isMountedAt } from "../../host/kernel/mount-table.ts";
import { bindMount, mountDevice, unmountUnder } from "../../host/kernel/mounts.ts";

/** "directory": without a limit, published by bind mounts, for machines without loop devices. */
export type VolumeKind = "block" | "ext4" | "xfs" | "directory";

export interface StoredVolume {
  readonly capacityBytes: number;
  /** Less than the capacity between the calls of controller and node to grow it. */
  readonly contentBytes: number;
  readonly kind: VolumeKind;
  /** Node ids that the controller part published it to. */
  readonly nodes: readonly string[];
}

/** mkfs.ext4 and mkfs.xfs create nothing smaller that is of use. */
const SIZES_MIN: Readonly<Record<VolumeKind, number>> = { block: 2 ** 20, directory: 2 ** 20, ext4: 2 ** 20, xfs: 300 * 2 ** 20 };

export class DriverVolumes {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string): Promise<DriverVolumes> {
    await mkdir(directory, { recursive: true });
    return new DriverVolumes(directory);
  }

  async ids(): Promise<readonly string[]> {
    return (await readdir(this.#directory)).filter((name) => !name.endsWith(NEW)).toSorted();
  }

  async has(id: string): Promise<boolean> {
    return (await this.ids()).includes(id);
  }

  async read(id: string): Promise<StoredVolume> {
    return JSON.parse(await readFile(this.#at(id, "volume.json"), "utf8")) as StoredVolume;
  }

  /** Durable as a whole, also if the driver is killed. */
  async write(id: string, volume: StoredVolume): Promise<void> {
    await replace(this.#at(id, "volume.json"), volume);
  }

  /** Creates it with its file system, or not at all. */
  async add(id: string, { kind, capacityBytes: wantedBytes, nodes = [] }: NewVolume): Promise<StoredVolume> {
    const capacityBytes = Math.max(wantedBytes, SIZES_MIN[kind]);
    const volume = { kind, capacityBytes, contentBytes: capacityBytes, nodes };
    const fresh = join(this.#directory, `${id}${NEW}`);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh);
    if (kind === "directory") await mkdir(join(fresh, "data"));
    else {
      const image = join(fresh, "image");
      await writeFile(image, "");
      await truncate(image, capacityBytes);
      if (kind !== "block") await format(image, kind);
    }
    await writeFile(join(fresh, "volume.json"), JSON.stringify(volume));
    await rename(fresh, join(this.#directory, id));
    return volume;
  }

  /** Does nothing if it does not exist. It must not be mounted. */
  async remove(id: string): Promise<void> {
    await this.#releaseDevice(id);
    await rm(join(this.#directory, id), { recursive: true, force: true });
  }

  /** Paths at which it is mounted now. */
  async mounts(id: string): Promise<readonly string[]> {
    const mounted = [];
    for (const path of await this.#paths(id)) if (await isMountedAt(path)) mounted.push(path);
    return mounted;
  }

  /** Mounts its file system, grown to its capacity, or its directory; creates the mount point. */
  async mount(id: string, path: string, options: readonly string[] = []): Promise<void> {
    if (await isMountedAt(path)) return;
    await this.#record(id, path);
    await mkdir(path, { recursive: true });
    const { kind } = await this.read(id);
    if (kind === "directory") return bindMount(this.#at(id, "data"), path, options);
    const device = await this.#device(id);
    // XFS grows only while it is mounted, and ext4 only then if the driver has CAP_SYS_RESOURCE.
    if (kind === "ext4" && (await this.mounts(id)).length === 0) await this.#growContent(id, () => growUnmounted(device));
    await mountDevice({ device, path, fileSystem: kind, options });
  }

  /** Shows a mounted volume at another path. */
  async show(id: string, from: string, path: string, options: readonly string[] = []): Promise<void> {
    if (await isMountedAt(path)) return;
    await this.#record(id, path);
    await mkdir(path, { recursive: true });
    await bindMount(from, path, options);
  }

  /** Shows its block device as a file. */
  async showDevice(id: string, path: string): Promise<void> {
    if (await isMountedAt(path)) return;
    await this.#record(id, path);
    await writeFile(path, "");
    await bindMount(await this.#device(id), path, []);
  }

  /** Releases its device with the last mount. */
  async unmount(id: string, path: string): Promise<void> {
    await unmountUnder(path);
    if (!(await this.has(id))) return;
    await replace(
      this.#at(id, "paths.json"),
      (await this.#paths(id)).filter((other) => other !== path),
    );
    if ((await this.mounts(id)).length === 0) await this.#releaseDevice(id);
  }

  /** Grows the content to the capacity while it is mounted at `path`. */
  async grow(id: string, path: string): Promise<void> {
    const { kind } = await this.read(id);
    if (kind === "directory") return;
    await this.#growContent(id, async (device) => {
      if (kind !== "block") await growFileSystem(device, path);
    });
  }

  async #growContent(id: string, growOn: (device: string) => Promise<void>): Promise<void> {
    const volume = await this.read(id);
    if (volume.contentBytes >= volume.capacityBytes) return;
    const device = await this.#device(id);
    await truncate(this.#at(id, "image"), volume.capacityBytes);
    await resizeLoopDevice(device);
    await growOn(device);
    await this.write(id, { ...volume, contentBytes: volume.capacityBytes });
  }

  /** Attached if it is not. */
  #device(id: string): Promise<string> {
    return attachLoopDevice(this.#at(id, "image"));
  }

  async #releaseDevice(id: string): Promise<void> {
    const image = this.#at(id, "image");
    if (!(await this.has(id)) || (await this.read(id)).kind === "directory") return;
    const device = await findLoopDevice(image);
    if (device !== undefined) await detachLoopDevice(device);
  }

  async #record(id: string, path: string): Promise<void> {
    await replace(this.#at(id, "paths.json"), [...new Set([...(await this.#paths(id)), path])]);
  }

  async #paths(id: string): Promise<readonly string[]> {
    const text = await readFile(this.#at(id, "paths.json"), "utf8").catch(() => "[]");
    return JSON.parse(text) as string[];
  }

  #at(id: string, name: string): string {
    return join(this.#directory, id, name);
  }
}

export type NewVolume = Pick<StoredVolume, "kind" | "capacityBytes"> & Partial<Pick<StoredVolume, "nodes">>;

/** Of names of files that are not complete. */
const NEW = ".new";

async function replace(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}${NEW}`, JSON.stringify(value));
  await rename(`${path}${NEW}`, path);
}
