/**
 * Writes the PodScheduled condition and the nominated node of unschedulable Pods, concurrently with the cycles; of several pending writes
 * of one Pod only the newest is sent. A failed write is not retried: the next attempt writes it again. A Pod whose binding takes preparation is
 * nominated to its node before.
 *
 * An assigned Pod never gets PodScheduled=False: binding cancels what is pending (`supersede`), and waits for the write in flight, which
 * would otherwise come after the binding and overwrite the server's condition.
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
  /** "Unschedulable": no feasible node; "SchedulerError": any other failure. */
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** "": clears the nomination. Absent: unchanged. */
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

/** A write in flight. */
interface Write {
  /** Never rejects. */
  over: Promise<void>;
  /** The next write. */
  next: { readonly pod: Pod; readonly verdict: Verdict } | undefined;
}

export class PodConditions {
  readonly #options: PodConditionsOptions;
  /** By uid. */
  readonly #writes = new Map<string, Write>();

  constructor(options: PodConditionsOptions) {
    this.#options = options;
  }

  /** Never waits, never fails. Ignores deleted and assigned Pods. */
  report(pod: Pod, verdict: Verdict): void {
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

  /** The Pod is about to be bound: nothing more is written. Resolves when the write in flight is done; undefined if none exists. */
  supersede(uid: string): Promise<void> | undefined {
    const write = this.#writes.get(uid);
    if (write !== undefined) write.next = undefined;
    return write?.over;
  }

  /**
   * Announces the node of a Pod that waits at permit or preBind, for the cluster autoscaler and for the scheduler that starts after a crash. Resolves
   * when it is written, or the write has failed, which does not delay the binding.
   */
  async nominate(pod: Pod, nodeName: string): Promise<void> {
    await this.supersede(pod.metadata.uid ?? "");
    const newest = this.#withoutNode(pod);
    if (newest === undefined || newest.status?.nominatedNodeName === nodeName) return;
    const patch = { metadata: { uid: pod.metadata.uid ?? "" }, status: { nominatedNodeName: nodeName } };
    await this.#write(pod, patch, schedulingCause(pod, "Nominated"));
  }

  /** The newest version; undefined if it was deleted, replaced, or assigned. */
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
      log.warn("Cannot write the scheduling status of a Pod", { pod: `${namespace}/${name}`, error });
    }
  }

  #written(uid: string, { next }: Write): void {
    this.#writes.delete(uid);
    if (next !== undefined) this.report(next.pod, next.verdict);
  }
}

/** Undefined if the status is up to date. The uid protects another Pod of the same name. */
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
  // As upstream: another observedGeneration alone is not worth a write.
  const isUnchanged = before?.status === "False" && before.reason === reason && before.message === message;
  const isNominated = nominatedNodeName === undefined || nominatedNodeName === (status.nominatedNodeName ?? "");
  if (isUnchanged && isNominated) return undefined;
  const lastTransitionTime = before?.status === "False" ? before.lastTransitionTime : formatTime(nowMs);
  return {
    metadata: { uid: metadata.uid ?? "" },
    status: {
      ...(isUnchanged ? {} : { conditions: [{ ...condition, lastProbeTime: null, lastTransitionTime: lastTransitionTime ?? null }] }),
      ...(isNominated ? {} : { nominatedNodeName: nominatedNodeName === "" ? null : nominatedNodeName }),
    },
  };
}
