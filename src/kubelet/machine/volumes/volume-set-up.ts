/**
 * The steps from a volume of a Pod to a mounted volume: claim, plugin, attachment, staging, mount. Stateless apart from the records of staged
 * volumes and the turns of those that one Pod at a time may use. Not here: which volumes of which Pods, serialization and retries (pod-volumes-on-disk.ts).
 */
import type { Pod, Volume } from "../../../api/generated/core/v1.ts";
import { exponentialDelayMs } from "../../../base/backoff.ts";
import type { Clock } from "../../../base/clock.ts";
import { joinPath } from "../../../host/files/files.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";
import type { MountedVolume } from "../../contracts/pod-volumes.ts";
import { all } from "../../volumes/all.ts";
import { checkNodeAffinity, claimedVolume, isBlockVolume, isForOnePod, migratedInline } from "../../volumes/framework/claimed-volume.ts";
import { findPersistentPlugin, findPlugin } from "../../volumes/framework/find-plugin.ts";
import { NotAttachedError, VolumeError } from "../../volumes/framework/volume-error.ts";
import type { PodVolume, VolumeNode, VolumePlugin } from "../../volumes/framework/volume-plugin.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import type { PodDirectories } from "./pod-directories.ts";
import type { StagedVolumes } from "./staged-volumes.ts";
import { fullName, recordedName, type TimedOperation } from "./volume-metrics.ts";

/** Upstream's limit of waiting for an attachment, before it is reported in an Event. */
const ATTACH_TIMEOUT_MS = 120_000;

/** A node may read its VolumeAttachments but not watch them. The first ones are short, because most attachments take milliseconds. */
const ATTACH_CHECKS = { minMs: 50, maxMs: 5000 };

export interface VolumeSetUpOptions {
  readonly node: VolumeNode;
  readonly directories: PodDirectories;
  readonly staged: StagedVolumes;
  /** Resolves when the Node's status shows the volume as in use; rejects if that is not possible now. */
  readonly reportInUse: (volumeId: string) => Promise<void>;
  /** A volume need not be reported as in use any more. */
  readonly onUnused: () => void;
  /** A volume that no Pod uses any more could not be unstaged. */
  readonly onOwed: (volumeId: string, failure: unknown) => void;
  readonly timed: TimedOperation;
  readonly clock: Clock;
}

/** A volume of a Pod with its plugin. */
export interface PlacedVolume {
  readonly plugin: VolumePlugin;
  readonly podVolume: PodVolume;
}

export class VolumeSetUp {
  readonly #options: VolumeSetUpOptions;
  /** Volumes for one Pod: two Pods must not find at the same time that no other uses it. */
  readonly #exclusive = new KeyedTurns();

  constructor(options: VolumeSetUpOptions) {
    this.#options = options;
  }

  /** Reads the volume's claim, if it has one, and selects the plugin. Rejects with a ClaimError or VolumeError. */
  async place(pod: Pod, volume: Volume, signal: AbortSignal): Promise<PlacedVolume> {
    const { node, directories } = this.#options;
    const podUid = pod.metadata.uid ?? "";
    const persistent = await claimedVolume(pod, volume, { references: node.references, signal });
    if (persistent === undefined) {
      const migrated = migratedInline(pod, volume);
      const plugin = migrated === undefined ? findPlugin(all, volume) : findPersistentPlugin(all, migrated);
      const location = directories.volume(podUid, { plugin: plugin.directory, name: volume.name });
      return { plugin, podVolume: { pod, volume, ...(migrated === undefined ? {} : { persistent: { volume: migrated } }), ...location } };
    }
    const plugin = findPersistentPlugin(all, persistent.volume);
    const location = { plugin: plugin.directory, name: persistent.volume.metadata.name, isBlockDevice: isBlockVolume(persistent.volume) };
    return { plugin, podVolume: { pod, volume, persistent, ...directories.volume(podUid, location) } };
  }

  /** Mounts a volume, or refreshes it if it is mounted already. */
  async setUp({ plugin, podVolume }: PlacedVolume, signal: AbortSignal): Promise<MountedVolume> {
    const { node, staged, timed } = this.#options;
    const mounted = await plugin.reconstruct(podVolume, node);
    if (mounted !== undefined) {
      if (plugin.refresh !== undefined) await plugin.refresh(podVolume, await this.#resolve({ plugin, podVolume }, signal), node);
      return mounted;
    }
    const name = fullName(plugin, podVolume);
    const attached = await timed("verify_controller_attached_volume", name, () => this.#attached({ plugin, podVolume }, signal));
    const mount = async () => {
      const { resolved } = attached ?? { resolved: await this.#resolve({ plugin, podVolume }, signal) };
      await staged.stage(podVolume, { plugin, resolved, node });
      return plugin.mount(podVolume, resolved, node);
    };
    return timed(podVolume.isBlockDevice ? "map_volume" : "volume_mount", name, () => {
      if (podVolume.persistent === undefined || !isForOnePod(podVolume.persistent.volume)) return mount();
      return this.#exclusive.run(podVolume.volumeName, async () => {
        await this.#checkOnly({ plugin, podVolume });
        return mount();
      });
    });
  }

  /** The scheduler ensures it, but not for a Pod that names its node. What an earlier process mounted counts, too. */
  async #checkOnly({ plugin, podVolume }: PlacedVolume): Promise<void> {
    const { directories } = this.#options;
    const { podUid, volumeName } = podVolume;
    for (const other of await namesIn(directories.pods)) {
      if (other === podUid) continue;
      for (const parent of [directories.volumes(other), directories.volumeDevices(other)]) {
        if ((await namesIn(joinPath(parent, plugin.directory))).includes(volumeName))
          throw new VolumeError("volume uses the ReadWriteOncePod access mode and is already in use by another pod");
      }
    }
  }

  /** Resolves when the volume may be used here, and one that a controller attaches is attached; undefined if no controller does. */
  async #attached(placed: PlacedVolume, signal: AbortSignal): Promise<{ readonly resolved: unknown } | undefined> {
    const isAttachable = await this.#admit(placed, signal);
    const attached = isAttachable ? { resolved: await this.#resolve(placed, signal) } : undefined;
    await this.recheckAttachment(placed, signal);
    return attached;
  }

  /** Waits while a controller attaches the volume: an Event for something that is on its way would alarm for nothing. */
  async #resolve({ plugin, podVolume }: PlacedVolume, signal: AbortSignal): Promise<unknown> {
    const { node, clock } = this.#options;
    const endMs = clock.monotonic() + ATTACH_TIMEOUT_MS;
    for (let checks = 0; ; checks++) {
      try {
        return await plugin.resolve(podVolume, node, signal);
      } catch (error) {
        if (!(error instanceof NotAttachedError) || clock.monotonic() >= endMs) throw error;
      }
      await clock.sleep(exponentialDelayMs(ATTACH_CHECKS, checks), signal);
    }
  }

  /**
   * A CSIDriver may be created or replaced after its volumes were attached. One that requires no attachment has its volumes removed from
   * those in use, mounted or not, so that the controller deletes their attachments.
   */
  async recheckAttachment({ plugin, podVolume }: PlacedVolume, signal: AbortSignal): Promise<void> {
    const { node, staged, onUnused } = this.#options;
    if (!staged.isAttachable(podVolume) || (await plugin.staging?.isAttachable?.(podVolume, node, signal)) === true) return;
    await staged.notAttachable(podVolume);
    onUnused();
  }

  /** Unmounts every volume that is found on disk: the Pod object may no longer exist. */
  async unmountAll(podUid: string): Promise<void> {
    const { directories, staged, node, timed } = this.#options;
    const below = [directories.volumes(podUid), directories.volumeDevices(podUid), directories.states(podUid)];
    for (const plugin of all) {
      const [mounts, devices, states] = await Promise.all(below.map((parent) => namesIn(joinPath(parent, plugin.directory))));
      for (const name of new Set([...(mounts ?? []), ...(devices ?? []), ...(states ?? [])])) {
        const place = { plugin: plugin.directory, name };
        const record = staged.record(directories.volume(podUid, place));
        const location = directories.volume(podUid, { ...place, isBlockDevice: record?.isBlockDevice ?? devices?.includes(name) ?? false });
        const fullName = recordedName(plugin, record?.volumeId);
        const [unmount, unstage] = location.isBlockDevice
          ? (["unmap_volume", "unmap_device"] as const)
          : (["volume_unmount", "unmount_device"] as const);
        await timed(unmount, fullName, () => plugin.unmount(location, node));
        const failure = await staged.release(location, { plugin, node, timed: (run) => timed(unstage, fullName, run) });
        if (failure !== undefined) this.#options.onOwed(record?.volumeId ?? "", failure);
      }
    }
  }

  /** Checks that the volume may be used on this node, and waits until a controller that attaches it knows that it is used. */
  async #admit({ plugin, podVolume }: PlacedVolume, signal: AbortSignal): Promise<boolean> {
    const { node, staged, reportInUse } = this.#options;
    const { persistent } = podVolume;
    if (persistent?.volume.spec?.nodeAffinity !== undefined)
      checkNodeAffinity(persistent.volume, await node.references.node(node.nodeName, signal));
    if ((await plugin.staging?.isAttachable?.(podVolume, node, signal)) !== true) return false;
    const volumeId = plugin.staging?.volumeId(podVolume) ?? "";
    await staged.use(podVolume, volumeId);
    await reportInUse(volumeId);
    return true;
  }
}
