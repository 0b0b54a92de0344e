/**
 * Grows volumes on this node after their claims were enlarged, and reports it in the claim's status and in Events, with upstream's messages.
 * Not here: when it is checked (volume-checks.ts), and growing in the backend (a controller, a provisioner).
 */
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../../api/generated/core/v1.ts";
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import { causedBy } from "../../../api/machinery/cause.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Client } from "../../../client/client.ts";
import type { RecordedEvent } from "../../../client/events/event-recorder.ts";
import {
  expandedStatus,
  expansionDue,
  failedStatus,
  hasNodePhase,
  inProgressStatus,
  wantsAnotherSize,
} from "../../volumes/framework/claim-expansion.ts";
import { isReadOnlyClaim } from "../../volumes/framework/claimed-volume.ts";
import { InfeasibleVolumeError } from "../../volumes/framework/volume-error.ts";
import type { PersistentPair, VolumeNode } from "../../volumes/framework/volume-plugin.ts";
import { fullName, type TimedOperation } from "./volume-metrics.ts";
import type { PlacedVolume } from "./volume-set-up.ts";

export interface VolumeExpansionOptions {
  readonly node: VolumeNode;
  /** Writes the status of a claim; `claimStatusWriter` is the implementation. */
  writeStatus(claim: PersistentVolumeClaim, reason: string): Promise<PersistentVolumeClaim>;
  record(about: KubeObject, event: RecordedEvent): void;
  readonly timed: TimedOperation;
  readonly clock: Clock;
}

export class VolumeExpansion {
  readonly #options: VolumeExpansionOptions;
  /** PersistentVolumes whose growth failed on this node. */
  readonly #failed = new Set<string>();

  constructor(options: VolumeExpansionOptions) {
    this.#options = options;
  }

  /** Grows a mounted volume if it is due. Rejects if that failed; the caller retries. */
  async expandIfDue({ plugin, podVolume }: PlacedVolume, signal: AbortSignal): Promise<void> {
    const { node } = this.#options;
    const { persistent, volumeName, pod, volume } = podVolume;
    const size = persistent === undefined ? undefined : expansionDue(persistent);
    const expand = plugin.expand?.bind(plugin);
    if (expand === undefined || persistent?.claim === undefined || size === undefined) return;
    let { claim } = persistent;
    const about = [pod, claim];
    if (isReadOnlyClaim(volume)) {
      const message = `MountVolume.NodeExpandVolume failed for volume "${volumeName}" requested read-only file system`;
      return this.#record(about, { type: "Warning", reason: "FileSystemResizeFailed", message });
    }
    // A controller that reports phases may act on the claim until it knows that the node has begun.
    if (claim.status?.allocatedResourceStatuses?.["storage"] === "NodeResizePending")
      claim = await this.#write(claim, inProgressStatus(claim), "Resizing");
    let isFinal = false;
    try {
      await this.#options.timed("volume_fs_resize", fullName(plugin, podVolume), async () => {
        const resolved = await plugin.resolve(podVolume, node, signal); // It fails while the driver is absent, which says nothing of the size.
        isFinal = true;
        await expand(podVolume, resolved, node);
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `NodeExpandVolume.NodeExpandVolume failed for volume "${volumeName}" : ${why}`;
      this.#record([pod], { type: "Warning", reason: "VolumeResizeFailed", message });
      if (isFinal) await this.#reportFailure({ claim, volume: persistent.volume }, error);
      throw error;
    }
    this.#failed.delete(persistent.volume.metadata.name);
    const message = `MountVolume.NodeExpandVolume succeeded for volume "${volumeName}" ${node.nodeName}`;
    this.#record(about, { type: "Normal", reason: "FileSystemResizeSuccessful", message });
    await this.#write(claim, expandedStatus(claim, size), "Resized");
  }

  /** For the controller, which may then try the size that the user wants by now. */
  async #reportFailure(pair: PersistentPair, error: unknown): Promise<void> {
    const { claim, volume } = pair;
    if (!hasNodePhase(claim)) return;
    const isRepeated = this.#failed.has(volume.metadata.name);
    this.#failed.add(volume.metadata.name);
    const isInfeasible = error instanceof InfeasibleVolumeError || (isRepeated && wantsAnotherSize(pair));
    const message = error instanceof Error ? error.message : String(error);
    await this.#write(claim, failedStatus(claim, { message, isInfeasible, time: formatTime(this.#options.clock.now()) }), "ResizeFailed");
  }

  #record(about: readonly KubeObject[], event: RecordedEvent): void {
    for (const object of about) this.#options.record(object, event);
  }

  #write(claim: PersistentVolumeClaim, status: PersistentVolumeClaimStatus, reason: string): Promise<PersistentVolumeClaim> {
    return this.#options.writeStatus({ ...claim, status }, reason);
  }
}

export function claimStatusWriter(client: Client): VolumeExpansionOptions["writeStatus"] {
  return (claim, reason) => {
    const cause = causedBy({ controller: "kubelet", reason, kind: persistentVolumeClaims, object: claim });
    return client.with({ cause }).updateStatus(persistentVolumeClaims, claim);
  };
}
