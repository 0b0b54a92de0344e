/**
 * Events about attachments, in upstream's words, on the Pods that wait for them. Each is emitted once per attachment and reason; what was
 * emitted is kept in memory only, so that after a restart a failure that persists is reported once more.
 */
import type { PersistentVolume, Pod } from "../../api/generated/core/v1.ts";
import type { VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";

/** Time after which a driver that does not answer is reported, as upstream waits for it. */
export const ATTACH_TIMEOUT_MS = 120_000;

export type PodsByNode = ReadonlyMap<string, readonly Pod[]>;

/** Of one volume. */
export class AttachReports {
  /** Nodes whose attachment was not complete when it was observed last. */
  readonly #waiting = new Set<string>();
  /** The last failure reported, by node. */
  readonly #reported = new Map<string, string>();

  /** Forgets nodes that no longer need the volume. */
  keep(nodeNames: ReadonlySet<string>): void {
    for (const node of [...this.#waiting, ...this.#reported.keys()]) {
      if (nodeNames.has(node)) continue;
      this.#waiting.delete(node);
      this.#reported.delete(node);
    }
  }

  /** An attachment was created, or is observed for a node that needs it. `ageMs`: time since it was created. */
  observe(volume: PersistentVolume, attachment: VolumeAttachment, pods: readonly Pod[], ageMs: number, events: EventRecorder): void {
    const node = attachment.spec.nodeName;
    const { attached = false, attachError } = attachment.status ?? {};
    if (attachment.metadata.deletionTimestamp !== undefined) {
      return this.#failed(volume, node, "volume attachment is being deleted", pods, events);
    }
    if (!attached) {
      this.#waiting.add(node);
      const reason = attachError === undefined ? timeoutReason(volume, ageMs) : (attachError.message ?? "");
      if (reason !== undefined) this.#failed(volume, node, reason, pods, events);
      return;
    }
    this.#reported.delete(node);
    if (!this.#waiting.delete(node)) return;
    // Upstream's message ends with a space.
    const message = `AttachVolume.Attach succeeded for volume ${quotedName(volume)} `;
    for (const pod of pods) events.record(pod, { type: "Normal", reason: "SuccessfulAttachVolume", message });
  }

  #failed(volume: PersistentVolume, node: string, reason: string, pods: readonly Pod[], events: EventRecorder): void {
    this.#once(node, reason, () => {
      const message = `AttachVolume.Attach failed for volume ${quotedName(volume)} : ${reason}`;
      for (const pod of pods) events.record(pod, { type: "Warning", reason: "FailedAttachVolume", message });
    });
  }

  /** The volume may be attached to one node only, and is attached to another. `users`: its Pods there. */
  blocked(volume: PersistentVolume, node: string, pods: readonly Pod[], users: readonly Pod[], events: EventRecorder): void {
    this.#once(node, `blocked by ${users.length}`, () => {
      for (const pod of pods) {
        const message = `Waiting for detach for volume ${quotedName(volume)} ${blockedReason(pod, users)}`;
        events.record(pod, { type: "Warning", reason: "FailedAttachVolume", message });
      }
    });
  }

  #once(node: string, what: string, report: () => void): void {
    if (this.#reported.get(node) === what) return;
    this.#reported.set(node, what);
    report();
  }
}

function quotedName({ metadata }: PersistentVolume): string {
  return JSON.stringify(metadata.name);
}

function timeoutReason({ spec }: PersistentVolume, ageMs: number): string | undefined {
  if (ageMs < ATTACH_TIMEOUT_MS) return undefined;
  return `timed out waiting for external-attacher of ${spec?.csi?.driver ?? ""} CSI driver to attach volume ${spec?.csi?.volumeHandle ?? ""}`;
}

/** Names of Pods are shown within a namespace only. */
function blockedReason({ metadata: { namespace } }: Pod, users: readonly Pod[]): string {
  if (users.length === 0) {
    return "Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node";
  }
  const near = users.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name);
  const far = users.length - near.length;
  if (near.length === 0) return `Volume is already used by ${far} pod(s) in different namespaces`;
  const known = `Volume is already used by pod(s) ${near.join(", ")}`;
  return far === 0 ? known : `${known} and ${far} pod(s) in different namespaces`;
}
