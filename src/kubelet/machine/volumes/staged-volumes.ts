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
import type { PodVolume, VolumeLocation, VolumeNode, VolumePlugin } from "../../volumes/framework/volume-plugin.ts";
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

  /** Reads what earlier processes recorded. */
  static async open(directories: PodDirectories, log: Logger): Promise<StagedVolumes> {
    const opened = new StagedVolumes();
    for (const podUid of await namesIn(directories.pods)) {
      await opened.#read(directories, podUid).catch((error: unknown) =>
        log.warn("Ignoring the unreadable records of staged volumes of a Pod", { podUid, error }),
      );
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

  async stage(volume: PodVolume, { plugin, resolved, node }: Staging): Promise<void> {
    const { staging } = plugin;
    const directory = staging?.directory(volume, resolved, node);
    if (staging === undefined || directory === undefined) return;
    const volumeId = staging.volumeId(volume);
    await this.#turns.run(volumeId, async () => {
      const { stateDirectory, isBlockDevice } = volume;
      const isAttachable = this.#records.get(stateDirectory)?.isAttachable ?? false;
      await this.#keep(stateDirectory, { volumeId, isAttachable, isBlockDevice, directory });
      await staging.stage({ volume, resolved, directory }, node);
    });
  }

  /** The Pod has unmounted the volume. The record is removed last, so that an interrupted call is repeated. */
  async release({ stateDirectory }: VolumeLocation, { plugin, node }: Omit<Staging, "resolved">): Promise<void> {
    const record = this.#records.get(stateDirectory);
    if (record === undefined) return;
    await this.#turns.run(record.volumeId, async () => {
      const { volumeId, directory } = record;
      const isUsed = [...this.#records].some(([other, { volumeId: id }]) => other !== stateDirectory && id === volumeId);
      if (!isUsed && directory !== undefined) await plugin.staging?.unstage(directory, node);
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
