/**
 * Empties released volumes with the reclaim policy Recycle: a Pod deletes their files, and its events are repeated on the volume.
 *
 * Only a Pod that this process created counts. After a restart, or if another Pod has its name, it is deleted and the volume is emptied again: so
 * a volume never becomes available with the data of its last claim.
 */
import { events as eventKind } from "../../api/core/v1/event.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolume } from "../../api/generated/core/v1.ts";
import type { TransportWatch } from "../../api/machinery/transport.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Pass } from "../runtime/controller.ts";
import { recyclerKey, recyclerPod, recyclerState } from "./recycler-pod.ts";

export type RecycleResult =
  /** A change of its Pod triggers the next step. */
  | { readonly is: "under-way" }
  | { readonly is: "recycled" }
  | { readonly is: "failed"; readonly message: string }
  /** It failed a short time ago. */
  | { readonly is: "backing-off"; readonly remainingMs: number };

/** A Pod that this process created. */
interface Recycler {
  readonly uid: string;
  /** Of the Pod's events; undefined if it failed, which costs only the events. */
  readonly watch: TransportWatch | undefined;
}

/** From a failed Pod to the next one: a Pod that fails at once must not be created again at once, and its deletion triggers a reconciliation. */
const BACK_OFF_MS = 60_000;

const UNDER_WAY: RecycleResult = { is: "under-way" };

export class Recyclers {
  /** By the volume's name. */
  readonly #started = new Map<string, Recycler>();
  /** When the volume's Pod has failed, by the volume's name. */
  readonly #failedAtMs = new Map<string, number>();

  /** The next step for a volume whose kind can be recycled. */
  async advance(volume: PersistentVolume, pass: Pass): Promise<RecycleResult> {
    const { name } = volume.metadata;
    const state = recyclerState(pass.read.get(pods, recyclerKey(name)), this.#started.get(name)?.uid);
    switch (state.is) {
      case "missing": {
        const remainingMs = this.#remainingMs(name, pass);
        if (remainingMs > 0) return { is: "backing-off", remainingMs };
        await this.#start(volume, pass);
        return UNDER_WAY;
      }
      case "running":
      case "terminating":
        return UNDER_WAY;
      case "unknown":
        await deletePod(name, pass);
        return { is: "failed", message: "Recycle failed: old recycler pod found, will retry later" };
      case "failed":
        await this.abandon(name, pass);
        this.#failedAtMs.set(name, pass.clock.monotonic());
        return { is: "failed", message: `Recycle failed: failed to recycle volume: ${state.reason}` };
      case "succeeded":
        await this.abandon(name, pass);
        return { is: "recycled" };
    }
  }

  /** Deletes the Pod that was created for the volume, if any. */
  async abandon(volumeName: string, pass: Pass): Promise<void> {
    this.#failedAtMs.delete(volumeName);
    const recycler = this.#started.get(volumeName);
    if (recycler === undefined) return;
    await deletePod(volumeName, pass);
    recycler.watch?.stop();
    this.#started.delete(volumeName);
  }

  #remainingMs(volumeName: string, { clock }: Pass): number {
    const failedAtMs = this.#failedAtMs.get(volumeName);
    return failedAtMs === undefined ? 0 : failedAtMs + BACK_OFF_MS - clock.monotonic();
  }

  async #start(volume: PersistentVolume, pass: Pass): Promise<void> {
    const draft = recyclerPod(volume);
    if (draft === undefined) return;
    const { metadata } = await pass.write.create(pods, draft);
    const uid = metadata.uid ?? "";
    this.#started.set(volume.metadata.name, { uid, watch: undefined });
    this.#started.set(volume.metadata.name, { uid, watch: await repeatEvents(volume, uid, pass) });
  }
}

async function deletePod(volumeName: string, { write }: Pass): Promise<void> {
  try {
    await write.delete(pods, recyclerKey(volumeName));
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

async function repeatEvents(volume: PersistentVolume, podUid: string, { write, events, log }: Pass): Promise<TransportWatch | undefined> {
  const { namespace } = recyclerKey(volume.metadata.name);
  try {
    return await write.watch(
      eventKind,
      { namespace, fieldSelector: `involvedObject.uid=${podUid}` },
      {
        event(change) {
          if (change.type !== "ADDED") return;
          const { type, message = "" } = change.object;
          events.record(volume, { type: type === "Warning" ? type : "Normal", reason: "RecyclerPod", message: `Recycler pod: ${message}` });
        },
        ended() {},
      },
    );
  } catch (error) {
    log.warn("Watching the events of a recycler Pod failed; the volume does not repeat them", { volume: volume.metadata.name, error });
    return undefined;
  }
}
