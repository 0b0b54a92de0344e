/**
 * Tells in a Pod's status why it has no node (condition PodScheduled) and which node is being freed for it. Written beside the cycles; of
 * several that wait for one Pod only the newest is written. One that cannot be written is not tried again: the next attempt tells it anew.
 *
 * A Pod that has a node is never told that it has none: whoever is about to bind it takes back what is not written yet (`supersede`), and
 * waits for the write under way, which would otherwise come after the binding and overwrite what the server says by it.
 */
import { pods } from "../api/core/v1/pod.ts";
import type { Pod, PodCondition } from "../api/generated/core/v1.ts";
import { findCondition } from "../api/machinery/conditions.ts";
import type { Cause } from "../api/machinery/cause.ts";
import type { Json } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { formatTime } from "../api/machinery/time.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Client } from "../client/client.ts";
import { schedulingCause } from "./effects.ts";
import type { ClusterView } from "./framework/plugin.ts";

export interface Verdict {
  /** "Unschedulable": no node will do; "SchedulerError": something else went wrong. */
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** "": none, whatever was nominated before. Absent: as it is. */
  readonly nominatedNodeName?: string;
}

export interface PodConditionsOptions {
  readonly client: Client;
  /** The newest version of a Pod. */
  readonly cluster: Pick<ClusterView, "pod">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A write under way. */
interface Write {
  /** Never rejects. */
  over: Promise<void>;
  /** What is to be written next. */
  next: { readonly pod: Pod; readonly verdict: Verdict } | undefined;
}

export class PodConditions {
  readonly #options: PodConditionsOptions;
  /** By uid. */
  readonly #writes = new Map<string, Write>();

  constructor(options: PodConditionsOptions) {
    this.#options = options;
  }

  /** Never waits, never fails. A Pod that is gone or has a node is told nothing. */
  tell(pod: Pod, verdict: Verdict): void {
    const uid = pod.metadata.uid ?? "";
    const underWay = this.#writes.get(uid);
    if (underWay !== undefined) {
      underWay.next = { pod, verdict };
      return;
    }
    const newest = this.#withoutNode(pod);
    const patch = newest === undefined ? undefined : patchOf(newest, verdict, this.#options.clock.now());
    if (patch === undefined) return;
    const write: Write = {
      next: undefined,
      over: this.#write(pod, patch, schedulingCause(pod, verdict.reason)).then(() => this.#written(uid, write)),
    };
    this.#writes.set(uid, write);
  }

  /** The Pod is about to be bound: nothing more is written. Resolves when what is being written is; undefined if nothing is. */
  supersede(uid: string): Promise<void> | undefined {
    const write = this.#writes.get(uid);
    if (write !== undefined) write.next = undefined;
    return write?.over;
  }

  /** The newest version; undefined if it is gone, another one, or has a node. */
  #withoutNode({ metadata: { namespace = "", name, uid } }: Pod): Pod | undefined {
    const newest = this.#options.cluster.pod(namespace, name);
    return newest?.metadata.uid === uid && (newest?.spec?.nodeName ?? "") === "" ? newest : undefined;
  }

  async #write({ metadata: { namespace, name } }: Pod, patch: Json, cause: Cause): Promise<void> {
    const { client, signal, log } = this.#options;
    try {
      await client.with({ cause }).patch(pods, { namespace, name }, { type: "strategic", value: patch }, { subresource: "status", signal });
    } catch (error) {
      if (signal.aborted || isReason(error, "NotFound") || isReason(error, "Conflict")) return;
      log.warn("Cannot tell in the Pod's status why it has no node", { pod: `${namespace}/${name}`, error });
    }
  }

  #written(uid: string, { next }: Write): void {
    this.#writes.delete(uid);
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
