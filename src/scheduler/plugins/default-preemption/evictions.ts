/**
 * Asynchronous evictions, concurrent with other cycles. The preemptor is gated meanwhile: it would find its victims still present and
 * choose others. Victims are evicted in parallel, but the last one only after all others: as soon as its deletion is observed, the Pod may
 * be retried, even if the response to the delete request is outstanding. Otherwise the deletion event, for which the Pod waits, could
 * arrive while it is still gated, and be lost.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { PluginContext } from "../../framework/plugin.ts";
import type { Candidate } from "./victims.ts";

/** Concurrent requests per preemption: upstream's parallelism. */
const PARALLEL_MAX = 16;

type Context = Pick<PluginContext, "cluster" | "effects" | "nominatedPods">;

export class Evictions {
  readonly #context: Context;
  /** By the preemptor's uid; the last victim once it is that one's turn. */
  readonly #underWay = new Map<string, Pod | undefined>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Whether the Pod must wait for its evictions. */
  isUnderWay(uid: string): boolean {
    if (!this.#underWay.has(uid)) return false;
    const last = this.#underWay.get(uid);
    return last === undefined || this.#isStaying(last);
  }

  /** Gates the Pod until the returned function has run; it must be called. It rejects with the first failure. */
  begin(preemptor: PodInfo, { nodeName, victims }: Candidate): (signal: AbortSignal) => Promise<void> {
    // Terminating ones need no eviction.
    const staying = victims.map(({ pod }) => pod).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const last = staying.pop();
    if (last === undefined) return () => Promise.resolve();
    const { uid } = preemptor;
    this.#underWay.set(uid, undefined);
    return async (signal) => {
      const preempt = (victim: Pod): Promise<void> => this.#context.effects.preempt(victim, preemptor.pod, nodeName, signal);
      try {
        const failures = await this.#clearNominations(preemptor, nodeName, signal);
        await eachInParallel(staying, preempt);
        this.#underWay.set(uid, last);
        await preempt(last);
        if (failures.length > 0) throw failures[0];
      } finally {
        this.#underWay.delete(uid);
      }
    };
  }

  #isStaying({ metadata }: Pod): boolean {
    const seen = this.#context.cluster.pod(metadata.namespace ?? "", metadata.name);
    return seen !== undefined && seen.metadata.uid === metadata.uid && seen.metadata.deletionTimestamp === undefined;
  }

  /** Nominated Pods of lower priority may no longer fit; now they can be placed elsewhere. Their failure stops nothing. */
  async #clearNominations(preemptor: PodInfo, nodeName: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const failures: unknown[] = [];
    for (const other of this.#context.nominatedPods(nodeName)) {
      if (other.priority >= preemptor.priority) continue;
      await this.#context.effects.clearNomination(other.pod, preemptor.pod, signal).catch((error: unknown) => failures.push(error));
    }
    return failures;
  }
}

/** After the first failure none is started; rejects with it when those in flight are done. */
async function eachInParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      await work(items[next++] as T).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_MAX, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
