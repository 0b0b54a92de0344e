/**
 * Tells in a Pod's status why it has no node (condition PodScheduled) and which node is being freed for it. Written beside the cycles; of
 * several that wait for one Pod only the newest is written. One that cannot be written is not tried again: the next attempt tells it anew.
 */
import { pods } from "../api/core/v1/pod.ts";
import type { Pod, PodCondition } from "../api/generated/core/v1.ts";
import { findCondition } from "../api/machinery/conditions.ts";
import type { Json } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { formatTime } from "../api/machinery/time.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Client } from "../client/client.ts";

export interface Verdict {
  /** "Unschedulable": no node will do; "SchedulerError": something else went wrong. */
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** "": none, whatever was nominated before. Absent: as it is. */
  readonly nominatedNodeName?: string;
}

export interface PodConditionsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class PodConditions {
  readonly #options: PodConditionsOptions;
  /** By uid: what is to be written when the write under way is over; undefined if nothing is. */
  readonly #waiting = new Map<string, { readonly pod: Pod; readonly verdict: Verdict } | undefined>();

  constructor(options: PodConditionsOptions) {
    this.#options = options;
  }

  /** Never waits, never fails. */
  tell(pod: Pod, verdict: Verdict): void {
    const uid = pod.metadata.uid ?? "";
    if (this.#waiting.has(uid)) return void this.#waiting.set(uid, { pod, verdict });
    const patch = patchOf(pod, verdict, this.#options.clock.now());
    if (patch === undefined) return;
    this.#waiting.set(uid, undefined);
    void this.#write(pod, patch).then(() => this.#written(uid));
  }

  /** Writes under way. */
  get size(): number {
    return this.#waiting.size;
  }

  async #write({ metadata: { namespace, name } }: Pod, patch: Json): Promise<void> {
    const { client, signal, log } = this.#options;
    try {
      await client.patch(pods, { namespace, name }, { type: "strategic", value: patch }, { subresource: "status", signal });
    } catch (error) {
      if (signal.aborted || isReason(error, "NotFound") || isReason(error, "Conflict")) return;
      log.warn("Cannot tell in the Pod's status why it has no node", { pod: `${namespace}/${name}`, error });
    }
  }

  #written(uid: string): void {
    const next = this.#waiting.get(uid);
    this.#waiting.delete(uid);
    if (next !== undefined) this.tell(next.pod, next.verdict);
  }
}

/** Undefined if the status says it already. The uid keeps it from another Pod of the same name. */
function patchOf(pod: Pod, { reason, message, nominatedNodeName }: Verdict, nowMs: number): Json | undefined {
  const { status = {}, metadata } = pod;
  const before = findCondition(status.conditions, "PodScheduled");
  const condition: Partial<PodCondition> = {
    type: "PodScheduled",
    status: "False",
    reason,
    message,
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
  // As upstream: that the same is true of another generation is not worth a write.
  const isTold = before?.status === "False" && before.reason === reason && before.message === message;
  const isNominated = nominatedNodeName === undefined || nominatedNodeName === (status.nominatedNodeName ?? "");
  if (isTold && isNominated) return undefined;
  const lastTransitionTime = before?.status === "False" ? before.lastTransitionTime : formatTime(nowMs);
  return {
    metadata: { uid: metadata.uid ?? "" },
    status: {
      ...(isTold ? {} : { conditions: [{ ...condition, lastProbeTime: null, lastTransitionTime: lastTransitionTime ?? null }] }),
      ...(isNominated ? {} : { nominatedNodeName: nominatedNodeName === "" ? null : nominatedNodeName }),
    },
  };
}
