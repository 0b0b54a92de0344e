/**
 * Staged volumes of this node: which Pods use them is recorded in the state directories of the Pods before anything is staged, so that a
 * kubelet that was killed anywhere still unstages after the last Pod. Operations on one volume are serialized. Not here: what staging does
 * (kubelet/volumes), and when the Node's status shows a volume as in use (volumes-in-use.ts).
 */
import type { Logger } from "../../../base/logger.ts";
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

export class StagedVolumes {
  readonly #turns = new KeyedTurns();
  /** By state directory. */
  readonly #records = new Map<string, StagingRecord>();
  /** Volumes that were staged, or that an earlier process may have staged. */
  readonly #staged = new Set<string>();

  /** Pods of earlier processes whose records could not be read. */
  unreadable = 0;

  /** Reads what earlier processes recorded. */
  static async open(directories: PodDirectories, log: Logger): Promise<StagedVolumes> {
    const opened = new StagedVolumes();
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

  /** Names of all volumes that a controller attached or is to attach, sorted. */
  attachable(): readonly string[] {
    const used = [...this.#records.values()].filter(({ isAttachable }) => isAttachable);
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

  /** The Pod has unmounted the volume. The record is removed last, so that an interrupted call is repeated. */
  async release({ stateDirectory }: VolumeLocation, { plugin, node, timed }: Releasing): Promise<void> {
    const record = this.#records.get(stateDirectory);
    if (record === undefined) return;
    await this.#turns.run(record.volumeId, async () => {
      const { volumeId, directory } = record;
      const isUsed = [...this.#records].some(([other, { volumeId: id }]) => other !== stateDirectory && id === volumeId);
      const { staging } = plugin;
      if (!isUsed && directory !== undefined && staging !== undefined) await timed(() => staging.unstage(directory, node));
      if (!isUsed) this.#staged.delete(volumeId);
      await removeFile(joinPath(stateDirectory, RECORD_FILE));
      this.#records.delete(stateDirectory);
    });
  }

  async #keep(stateDirectory: string, record: StagingRecord): Promise<void> {
    await makeDirectories(stateDirectory, PARENT_MODE);
    await writePrivateText(joinPath(stateDirectory, RECORD_FILE), JSON.stringify(record));
    this.#records.set(stateDirectory, record);
  }
}

interface Releasing extends Omit<Staging, "resolved"> {
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
