/**
 * Staged volumes of this node: which Pods use them is recorded in the state directories of the Pods before anything is staged, so that a
 * kubelet that was killed anywhere still unstages after the last Pod. A Pod does not wait for that: what could not be unstaged is recorded
 * beside the Pods and retried. Operations on one volume are serialized. Not here: what staging does (kubelet/volumes), and when to retry
 * (unstage-retries.ts).
 */
import type { Logger } from "../../../base/logger.ts";
import { sha256 } from "../../../host/crypto/hash.ts";
import { joinPath, readTextIfAny, removeFile } from "../../../host/files/files.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import { makeDirectories, namesIn } from "../../../host/files/shared-directory.ts";
import { PARENT_MODE } from "../../volumes/framework/volume-directory.ts";
import { FinalVolumeError, StagingError } from "../../volumes/framework/volume-error.ts";
import type { PodVolume, VolumeLocation, VolumeNode, VolumePlugin, VolumeStaging } from "../../volumes/framework/volume-plugin.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import type { PodDirectories } from "./pod-directories.ts";

const RECORD_FILE = "k8ts-staged.json";

export interface StagingRecord {
  readonly volumeId: string;
  readonly isAttachable: boolean;
  readonly isBlockDevice: boolean;
  /** Absent: the volume is not staged (yet). */
  readonly directory?: string;
}

/** A volume that no Pod uses any more and that could not be unstaged. */
interface OwedVolume extends StagingRecord {
  /** Directory name of its plugin. */
  readonly plugin: string;
  readonly directory: string;
}

export class StagedVolumes {
  /** Absent: a Pod waits until its volumes are unstaged. */
  readonly #owedDirectory: string | undefined;
  /** By volume. */
  readonly #owed = new Map<string, OwedVolume>();
  readonly #turns = new KeyedTurns();
  /** By state directory. */
  readonly #records = new Map<string, StagingRecord>();
  /** Volumes that were staged, or that an earlier process may have staged. */
  readonly #staged = new Set<string>();

  /** Pods of earlier processes whose records could not be read. */
  unreadable = 0;

  constructor(directories?: Pick<PodDirectories, "unstaging">) {
    this.#owedDirectory = directories?.unstaging;
  }

  /** Reads what earlier processes recorded. */
  static async open(directories: PodDirectories, log: Logger): Promise<StagedVolumes> {
    const opened = new StagedVolumes(directories);
    for (const name of await namesIn(directories.unstaging)) {
      await opened.#readOwed(joinPath(directories.unstaging, name)).catch((error: unknown) => {
        opened.unreadable += 1;
        log.warn("Ignoring the unreadable record of a volume to unstage", { record: name, error });
      });
    }
    for (const podUid of await namesIn(directories.pods)) {
      await opened.#read(directories, podUid).catch((error: unknown) => {
        opened.unreadable += 1;
        log.warn("Ignoring the unreadable records of staged volumes of a Pod", { podUid, error });
      });
    }
    return opened;
  }

  async #read(directories: PodDirectories, podUid: string): Promise<void> {
    const states = directories.states(podUid);
    for (const plugin of await namesIn(states)) {
      for (const name of await namesIn(joinPath(states, plugin))) {
        const { stateDirectory } = directories.volume(podUid, { plugin, name });
        const record = readRecord(await readTextIfAny(joinPath(stateDirectory, RECORD_FILE)));
        if (record !== undefined) this.#records.set(stateDirectory, record);
        if (record?.directory !== undefined) this.#staged.add(record.volumeId);
      }
    }
  }

  async #readOwed(file: string): Promise<void> {
    const text = await readTextIfAny(file);
    const record = readRecord(text);
    const { plugin } = JSON.parse(text) as Partial<OwedVolume>;
    if (record?.directory === undefined || typeof plugin !== "string") throw new Error(`Cannot use the record ${text}: it is incomplete`);
    this.#owed.set(record.volumeId, { ...record, directory: record.directory, plugin });
    this.#staged.add(record.volumeId);
  }

  /** Names of all volumes that a controller attached or is to attach, sorted. */
  attachable(): readonly string[] {
    const used = [...this.#records.values(), ...this.#owed.values()].filter(({ isAttachable }) => isAttachable);
    return [...new Set(used.map(({ volumeId }) => volumeId))].toSorted();
  }

  record({ stateDirectory }: Pick<VolumeLocation, "stateDirectory">): StagingRecord | undefined {
    return this.#records.get(stateDirectory);
  }

  /** Records that the Pod uses an attachable volume, before it waits for the attachment. */
  async use({ stateDirectory, isBlockDevice }: VolumeLocation, volumeId: string): Promise<void> {
    if (this.#records.has(stateDirectory)) return;
    await this.#keep(stateDirectory, { volumeId, isAttachable: true, isBlockDevice });
  }

  /** Whether the volume is recorded as one that a controller attached or is to attach. */
  isAttachable({ stateDirectory }: Pick<VolumeLocation, "stateDirectory">): boolean {
    return this.#records.get(stateDirectory)?.isAttachable === true;
  }

  /** Records that no controller attaches the volume any more. A volume that is staged stays so. */
  async notAttachable({ stateDirectory }: Pick<VolumeLocation, "stateDirectory">): Promise<void> {
    const recorded = this.#records.get(stateDirectory);
    if (recorded === undefined) return;
    await this.#turns.run(recorded.volumeId, async () => {
      const record = this.#records.get(stateDirectory);
      if (record !== undefined) await this.#keep(stateDirectory, { ...record, isAttachable: false });
    });
  }

  async stage(volume: PodVolume, { plugin, resolved, node }: Staging): Promise<void> {
    const { staging } = plugin;
    const directory = staging?.directory(volume, resolved, node);
    if (staging === undefined || directory === undefined) return;
    const volumeId = staging.volumeId(volume);
    await this.#turns.run(volumeId, async () => {
      const { stateDirectory, isBlockDevice } = volume;
      const isAttachable = this.#records.get(stateDirectory)?.isAttachable ?? false;
      const record = { volumeId, isAttachable, isBlockDevice, directory };
      await this.#keep(stateDirectory, record);
      try {
        await staging.stage({ volume, resolved, directory }, node);
      } catch (error) {
        if (error instanceof FinalVolumeError && !this.#staged.has(volumeId)) await this.#forget(stateDirectory, record, { staging, node });
        throw new StagingError(error);
      }
      this.#staged.add(volumeId);
    });
  }

  /** Nothing was staged: after the last Pod that tried there is nothing to unstage. The files go first: without them no driver is called. */
  async #forget(
    stateDirectory: string,
    { directory, ...record }: StagingRecord & { readonly directory: string },
    { staging, node }: { readonly staging: VolumeStaging; readonly node: VolumeNode },
  ): Promise<void> {
    const isTried = [...this.#records].some(([other, used]) => other !== stateDirectory && used.directory === directory);
    if (!isTried) await staging.forget?.(directory, node);
    await this.#keep(stateDirectory, record);
  }

  /**
   * The Pod has unmounted the volume. The record is removed last, so that an interrupted call is repeated. As upstream, the Pod does not wait
   * for a driver that fails to unstage: resolves with the failure, and the volume is owed.
   */
  async release({ stateDirectory }: VolumeLocation, { plugin, node, timed }: Releasing): Promise<unknown> {
    const record = this.#records.get(stateDirectory);
    if (record === undefined) return undefined;
    return this.#turns.run(record.volumeId, async () => {
      const { volumeId, directory } = record;
      let failure: unknown;
      if (!this.#isUsed(volumeId, stateDirectory)) {
        failure = directory === undefined ? undefined : await this.#unstage({ ...record, directory }, { plugin, node, timed });
        if (failure === undefined) this.#staged.delete(volumeId);
      }
      await removeFile(joinPath(stateDirectory, RECORD_FILE));
      this.#records.delete(stateDirectory);
      return failure;
    });
  }

  /** Resolves with the failure, after the volume was recorded as owed. */
  async #unstage(record: StagingRecord & { readonly directory: string }, { plugin, node, timed }: Releasing): Promise<unknown> {
    const { staging } = plugin;
    try {
      if (staging !== undefined) await timed(() => staging.unstage(record.directory, node));
      await this.#settle(record.volumeId);
      return undefined;
    } catch (error) {
      if (this.#owedDirectory === undefined) throw error;
      const owed = { ...record, plugin: plugin.directory };
      await makeDirectories(this.#owedDirectory, PARENT_MODE);
      await writePrivateText(this.#owedFile(record.volumeId), JSON.stringify(owed));
      this.#owed.set(record.volumeId, owed);
      return error;
    }
  }

  /** Volumes that no Pod uses any more and that are still staged. */
  get owed(): readonly Pick<OwedVolume, "volumeId" | "plugin" | "isBlockDevice">[] {
    return [...this.#owed.values()];
  }

  /** Tries again to unstage an owed volume, unless a Pod uses it again. Resolves with the failure. */
  async retry(volumeId: string, releasing: Releasing): Promise<unknown> {
    return this.#turns.run(volumeId, async () => {
      const owed = this.#owed.get(volumeId);
      if (owed === undefined) return undefined;
      if (this.#isUsed(volumeId)) return this.#settle(volumeId);
      const failure = await this.#unstage(owed, releasing);
      if (failure === undefined) this.#staged.delete(volumeId);
      return failure;
    });
  }

  #isUsed(volumeId: string, except?: string): boolean {
    return [...this.#records].some(([stateDirectory, record]) => stateDirectory !== except && record.volumeId === volumeId);
  }

  async #settle(volumeId: string): Promise<void> {
    if (!this.#owed.has(volumeId)) return;
    await removeFile(this.#owedFile(volumeId));
    this.#owed.delete(volumeId);
  }

  /** Handles of volumes have slashes and any length. */
  #owedFile(volumeId: string): string {
    const hash = sha256();
    hash.update(Buffer.from(volumeId));
    return joinPath(this.#owedDirectory ?? "", `${Buffer.from(hash.digest()).toString("hex")}.json`);
  }

  async #keep(stateDirectory: string, record: StagingRecord): Promise<void> {
    await makeDirectories(stateDirectory, PARENT_MODE);
    await writePrivateText(joinPath(stateDirectory, RECORD_FILE), JSON.stringify(record));
    this.#records.set(stateDirectory, record);
  }
}

export interface Releasing extends Omit<Staging, "resolved"> {
  /** Measures the duration. */
  timed(run: () => Promise<void>): Promise<void>;
}

interface Staging {
  readonly plugin: VolumePlugin;
  readonly resolved: unknown;
  readonly node: VolumeNode;
}

/** Undefined if none exists. Throws if it is not one. */
function readRecord(text: string): StagingRecord | undefined {
  if (text === "") return undefined;
  const { volumeId, isAttachable, isBlockDevice, directory } = JSON.parse(text) as Partial<StagingRecord>;
  if (typeof volumeId !== "string" || (directory !== undefined && typeof directory !== "string"))
    throw new Error(`Cannot use the record ${text}: it names no volume`);
  const common = { volumeId, isAttachable: isAttachable === true, isBlockDevice: isBlockDevice === true };
  return directory === undefined ? common : { ...common, directory };
}
