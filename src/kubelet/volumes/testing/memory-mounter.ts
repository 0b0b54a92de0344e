/** A mounter over a Map. Directories, files, mounts, devices and published files are visible as lines; a call can be made to fail. */
import type { DeviceMount, FileKind, FileRights, Mounter, MountOptions } from "../framework/mounter.ts";
import type { VolumeFiles } from "../framework/volume-file.ts";

interface Entry {
  readonly kind: FileKind;
  readonly mode: number;
  readonly groupId?: number;
  /** Of a symbolic link; `kind` is then the target's. */
  readonly target?: string;
  /** Contents that `writeText` wrote. */
  readonly text?: string;
}

interface Device {
  fileSystem?: string;
  sizeBytes: number;
  /** Of the file system. */
  usedBytes: number;
  repairs: number;
}

export class MemoryMounter implements Mounter {
  readonly #entries = new Map<string, Entry>();
  /** Each mount by its path, as it is shown in a line. */
  readonly #mounts = new Map<string, string>();
  readonly devices = new Map<string, Device>();
  readonly #files = new Map<string, VolumeFiles>();
  #callsLeft = Number.POSITIVE_INFINITY;
  isMountAllowed = true;

  /** The process is killed after this many further changes: later ones reject and do nothing. */
  killAfter(changes: number): void {
    this.#callsLeft = changes;
  }

  add(path: string, kind: FileKind): void {
    this.#entries.set(path, { kind, mode: 0o644 });
  }

  /** Everything on the node, one line each, sorted. */
  lines(): readonly string[] {
    const entries = [...this.#entries].map(
      ([path, { kind, mode, groupId, target, text }]) =>
        `${path} ${kind} ${mode.toString(8)} ${groupId ?? "-"}${target === undefined ? "" : ` → ${target}`}${text === undefined ? "" : ` ${text.trim()}`}`,
    );
    const mounts = [...this.#mounts].map(([path, what]) => `${path} ${what}`);
    const devices = [...this.devices].map(([path, { fileSystem, usedBytes }]) => `${path} holds ${fileSystem ?? "nothing"} ${usedBytes}`);
    return [...entries, ...mounts, ...devices, ...[...this.#files].flatMap(([path, files]) => fileLines(path, files))].toSorted();
  }

  mounts(): readonly string[] {
    return [...this.#mounts.keys()];
  }

  /** A block device with nothing on it. */
  addDevice(path: string, sizeBytes: number): void {
    this.add(path, "block-device");
    this.devices.set(path, { sizeBytes, usedBytes: 0, repairs: 0 });
  }

  async fileKind(path: string): Promise<FileKind | undefined> {
    return this.#entries.get(path)?.kind;
  }

  async namesIn(path: string): Promise<readonly string[]> {
    const below = [...this.#entries.keys()].filter((other) => other.startsWith(`${path}/`));
    return [...new Set(below.map((other) => other.slice(path.length + 1).split("/", 1)[0] ?? ""))].toSorted();
  }

  async makeDirectories(path: string, mode: number): Promise<void> {
    this.#change();
    const names = path.split("/");
    for (let end = 2; end <= names.length; end++) {
      const directory = names.slice(0, end).join("/");
      if (!this.#entries.has(directory)) this.#entries.set(directory, { kind: "directory", mode });
    }
  }

  async touchFile(path: string, mode: number): Promise<void> {
    this.#change();
    if (!this.#entries.has(path)) this.#entries.set(path, { kind: "file", mode });
  }

  async isMountPoint(path: string): Promise<boolean> {
    return this.#mounts.has(path);
  }

  async isMountedAt(path: string): Promise<boolean> {
    return this.#mounts.has(path);
  }

  async rightsOf(path: string): Promise<FileRights | undefined> {
    const entry = this.#entries.get(path);
    return entry && { mode: entry.mode, groupId: entry.groupId ?? 0 };
  }

  async removeEmpty(path: string): Promise<void> {
    this.#change();
    if ([...this.#entries.keys()].some((other) => other.startsWith(`${path}/`))) throw new Error(`${path} is not empty`);
    if (this.#mounts.has(path)) throw new Error(`${path} is busy`);
    this.#entries.delete(path);
  }

  async readText(path: string): Promise<string | undefined> {
    return this.#entries.get(path)?.text;
  }

  async writeText(path: string, text: string): Promise<void> {
    this.#change();
    this.#entries.set(path, { kind: "file", mode: 0o600, text });
  }

  async removeFile(path: string): Promise<void> {
    this.#change();
    this.#entries.delete(path);
  }

  async link(path: string, target: string): Promise<void> {
    this.#change();
    this.#entries.set(path, { kind: this.#entries.get(target)?.kind ?? "other", mode: 0o777, target });
  }

  async bindMount(source: string, path: string, options: MountOptions): Promise<void> {
    this.#change();
    if (!this.#entries.has(source)) throw new Error(`special device ${source} does not exist`);
    this.#mountAt(path, `bind ${source} ${options.join()}`.trim());
  }

  async mountDevice({ device, path, fileSystem, options }: DeviceMount): Promise<void> {
    this.#change();
    const found = this.devices.get(device);
    if (found !== undefined && found.fileSystem !== fileSystem) throw new Error(`wrong fs type on ${device}`);
    this.#mountAt(path, `${fileSystem} ${device} ${options.join()}`.trim());
  }

  async fileSystemOn(device: string): Promise<string | undefined> {
    return this.devices.get(device)?.fileSystem;
  }

  async format(device: string, fileSystem: string): Promise<void> {
    this.#change();
    const found = this.#device(device);
    if (found.fileSystem !== undefined) throw new Error(`${device} is formatted already`);
    Object.assign(found, { fileSystem, usedBytes: found.sizeBytes });
  }

  async repair(device: string): Promise<void> {
    this.#device(device).repairs++;
  }

  async growUnmounted(device: string): Promise<void> {
    this.#change();
    const found = this.#device(device);
    if (found.fileSystem === "ext4") found.usedBytes = found.sizeBytes;
  }

  async growFileSystem(device: string, path: string): Promise<void> {
    this.#change();
    if (!this.#mounts.has(path)) throw new Error(`${path} is not mounted`);
    const found = this.#device(device);
    found.usedBytes = found.sizeBytes;
  }

  #device(path: string): Device {
    const found = this.devices.get(path);
    if (found === undefined) throw new Error(`${path} is no device`);
    return found;
  }

  #mountAt(path: string, what: string): void {
    if (!this.isMountAllowed) throw new Error("mount: permission denied");
    if (!this.#entries.has(path)) throw new Error(`mount point ${path} does not exist`);
    if (this.#mounts.has(path)) throw new Error(`${path} is mounted already`);
    this.#mounts.set(path, what);
  }

  async mountTmpfs(path: string, { sizeBytes }: { readonly sizeBytes?: number }): Promise<void> {
    this.#change();
    this.#mountAt(path, `tmpfs ${sizeBytes ?? "-"}`);
  }

  async unmount(path: string): Promise<void> {
    this.#change();
    for (const mounted of this.#mounts.keys()) {
      if (mounted !== path && !mounted.startsWith(`${path}/`)) continue;
      this.#mounts.delete(mounted);
      this.#files.delete(mounted);
    }
  }

  async changeGroup(
    path: string,
    groupId: number,
    modeFor: (mode: number, entry: { readonly isDirectory: boolean }) => number,
  ): Promise<void> {
    this.#change();
    const entry = this.#entries.get(path);
    if (entry === undefined) throw new Error(`${path} does not exist`);
    this.#entries.set(path, { ...entry, groupId, mode: modeFor(entry.mode, { isDirectory: entry.kind === "directory" }) });
  }

  async hasFiles(path: string): Promise<boolean> {
    return this.#files.has(path);
  }

  async writeFiles(path: string, files: VolumeFiles, { beforePublish }: { beforePublish(): Promise<void> }): Promise<void> {
    this.#change();
    if (this.#entries.get(path)?.kind !== "directory") throw new Error(`${path} is no directory`);
    if (fileLines(path, this.#files.get(path)).join() === fileLines(path, files).join() && this.#files.has(path)) return;
    await beforePublish();
    this.#change();
    this.#files.set(path, files);
  }

  #change(): void {
    if (this.#callsLeft === 0) throw new Error("killed");
    this.#callsLeft--;
  }
}

function fileLines(path: string, files: VolumeFiles = new Map()): readonly string[] {
  return [...files].map(
    ([name, { data, mode, ownerUid = "-" }]) => `${path}/${name} ${mode.toString(8)} ${ownerUid} ${new TextDecoder().decode(data)}`,
  );
}
