/** A mounter over a Map. Directories, files, tmpfs mounts and published files are visible as lines; a call can be made to fail. */
import type { FileKind, Mounter } from "../framework/mounter.ts";
import type { VolumeFiles } from "../framework/volume-file.ts";

interface Entry {
  readonly kind: FileKind;
  readonly mode: number;
  readonly groupId?: number;
}

export class MemoryMounter implements Mounter {
  readonly #entries = new Map<string, Entry>();
  readonly #tmpfs = new Map<string, number | undefined>();
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
    const entries = [...this.#entries].map(([path, { kind, mode, groupId }]) => `${path} ${kind} ${mode.toString(8)} ${groupId ?? "-"}`);
    const mounts = [...this.#tmpfs].map(([path, sizeBytes]) => `${path} tmpfs ${sizeBytes ?? "-"}`);
    return [...entries, ...mounts, ...[...this.#files].flatMap(([path, files]) => fileLines(path, files))].toSorted();
  }

  tmpfsMounts(): readonly string[] {
    return [...this.#tmpfs.keys()];
  }

  async fileKind(path: string): Promise<FileKind | undefined> {
    return this.#entries.get(path)?.kind;
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
    return this.#tmpfs.has(path);
  }

  async mountTmpfs(path: string, { sizeBytes }: { readonly sizeBytes?: number }): Promise<void> {
    this.#change();
    if (!this.isMountAllowed) throw new Error("mount: permission denied");
    if (this.#tmpfs.has(path)) throw new Error(`${path} is mounted already`);
    this.#tmpfs.set(path, sizeBytes);
  }

  async unmount(path: string): Promise<void> {
    this.#change();
    for (const mounted of this.#tmpfs.keys()) {
      if (mounted !== path && !mounted.startsWith(`${path}/`)) continue;
      this.#tmpfs.delete(mounted);
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
