/**
 * Carries out the reservation of a Pod: writes references and selected nodes, then waits until the binder has bound every claim. A failure
 * anywhere leaves nothing to undo: what was written is a valid start for the next attempt, of this scheduler or of its successor.
 */
import {
  boundToClaim,
  isBoundToClaim,
  SELECTED_NODE,
  annotationOf,
  withAnnotations,
} from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import type { PluginContext } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Assumption, Assumptions } from "./assumptions.ts";
import { areBound, type WrittenVolumes } from "./bound-check.ts";
import type { ClaimWaiters } from "./claim-waiters.ts";
import { keyOf, type VolumeReservation } from "./reservations.ts";
import { Slots } from "./slots.ts";

/** Upstream polls at this interval; here it covers only what changes no claim, such as labels of the node. */
const CHECK_INTERVAL_MS = 1_000;
/** Attempts of one write, each on a newer version: the binder annotates new claims at the time they are first used. */
const WRITE_ATTEMPTS_MAX = 4;
/** Maximum concurrent writes, however many Pods wait: more would only queue in the API server. */
const WRITES_MAX = 100;

export interface VolumeBinderOptions {
  readonly context: Pick<PluginContext, "cluster" | "effects" | "clock">;
  readonly assumptions: Assumptions;
  readonly waiters: ClaimWaiters;
  readonly timeoutMs: number;
}

/** One write that is repeated on a newer version after a conflict. */
interface Write<T extends KubeObject> {
  send(object: T): Promise<T>;
  current(): Promise<T>;
  /** The change on a newer version; undefined if it is no longer possible. */
  reapply(current: T): T | undefined;
}

export class VolumeBinder {
  readonly #options: VolumeBinderOptions;
  readonly #slots = new Slots(WRITES_MAX);

  constructor(options: VolumeBinderOptions) {
    this.#options = options;
  }

  async bind({ pod }: PodInfo, nodeName: string, reservation: VolumeReservation, signal: AbortSignal): Promise<void> {
    const written = await this.#write(pod, nodeName, reservation, signal);
    try {
      await this.#bound(written, pod, nodeName, signal);
    } catch (error) {
      throw new Error(`binding volumes: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  async #write(pod: Pod, nodeName: string, { bindings, provisions }: VolumeReservation, signal: AbortSignal): Promise<WrittenVolumes> {
    const written: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
    for (const { claim, volume } of bindings) written.push({ claim, volume: await this.#writeVolume(volume, claim, pod, signal) });
    const selected: PersistentVolumeClaim[] = [];
    for (const claim of provisions) selected.push(await this.#writeClaim(claim, nodeName, pod, signal));
    return { bindings: written, provisions: selected };
  }

  async #writeVolume(
    assumption: Assumption<PersistentVolume>,
    claim: PersistentVolumeClaim,
    pod: Pod,
    signal: AbortSignal,
  ): Promise<PersistentVolume> {
    const { storage } = this.#options.context.effects;
    const { name, uid } = assumption.object.metadata;
    const isFree = (volume: PersistentVolume): boolean =>
      volume.metadata.uid === uid &&
      volume.metadata.deletionTimestamp === undefined &&
      (isBoundToClaim(volume, claim) || (volume.spec?.claimRef === undefined && volume.status?.phase === "Available"));
    return this.#once(
      assumption,
      {
        send: (volume) => storage.updateVolume(volume, pod, signal),
        current: () => storage.currentVolume(name, signal),
        reapply: (volume) => (isFree(volume) ? boundToClaim(volume, claim) : undefined),
      },
      () => this.#options.assumptions.volumes.drop(name, assumption),
      signal,
    );
  }

  async #writeClaim(
    assumption: Assumption<PersistentVolumeClaim>,
    nodeName: string,
    pod: Pod,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    const { storage } = this.#options.context.effects;
    const { namespace = "", name, uid } = assumption.object.metadata;
    const isUnbound = (claim: PersistentVolumeClaim): boolean =>
      claim.metadata.uid === uid &&
      claim.metadata.deletionTimestamp === undefined &&
      (claim.spec?.volumeName ?? "") === "" &&
      (annotationOf(claim, SELECTED_NODE) ?? nodeName) === nodeName;
    return this.#once(
      assumption,
      {
        send: (claim) => storage.updateClaim(claim, pod, signal),
        current: () => storage.currentClaim(namespace, name, signal),
        reapply: (claim) => (isUnbound(claim) ? withAnnotations(claim, { [SELECTED_NODE]: nodeName }) : undefined),
      },
      () => this.#options.assumptions.claims.drop(keyOf(assumption.object), assumption),
      signal,
    );
  }

  /** Pods that share an assumption share its request. After a failure it no longer holds, and each of them is scheduled again. */
  async #once<T extends KubeObject>(assumption: Assumption<T>, write: Write<T>, failed: () => void, signal: AbortSignal): Promise<T> {
    if (!assumption.needsWrite) return assumption.object;
    assumption.writing ??= this.#slots.run(() => sendRepeatedly(assumption.object, write), signal);
    try {
      return await assumption.writing;
    } catch (error) {
      failed();
      throw error;
    }
  }

  async #bound(written: WrittenVolumes, pod: Pod, nodeName: string, signal: AbortSignal): Promise<void> {
    const { waiters, timeoutMs, context } = this.#options;
    const { clock, cluster } = context;
    const deadlineMs = clock.monotonic() + timeoutMs;
    const keys = [...written.bindings.map(({ claim }) => claim), ...written.provisions].map(keyOf);
    let woken = new AbortController();
    using _listening = waiters.listen(keys, () => woken.abort());
    while (!areBound(written, pod, nodeName, cluster)) {
      const leftMs = deadlineMs - clock.monotonic();
      if (leftMs <= 0) throw new Error("context deadline exceeded");
      // What changed since the check began has already aborted it.
      await clock.sleep(Math.min(leftMs, CHECK_INTERVAL_MS), AbortSignal.any([signal, woken.signal])).catch(() => signal.throwIfAborted());
      woken = new AbortController();
    }
  }
}

async function sendRepeatedly<T extends KubeObject>(object: T, { send, current, reapply }: Write<T>): Promise<T> {
  let next = object;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(next);
    } catch (error) {
      if (attempt >= WRITE_ATTEMPTS_MAX || !isReason(error, "Conflict")) throw error;
      const changed = reapply(await current());
      if (changed === undefined) throw error;
      next = changed;
    }
  }
}
