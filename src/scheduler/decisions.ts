/**
 * Recent scheduling decisions with their reasons, for explaining why a Pod is on a node or on none. Nothing depends on it; it is bounded,
 * and lost with the process.
 */
import type { ObjectKey } from "../client/client.ts";
import { Lru } from "../base/lru.ts";
import type { RefusedNodes } from "./cycle/rejections.ts";
import type { NodeScore } from "./cycle/scores.ts";

/** Enough to see a changed decision. */
export const DECISIONS_PER_POD_MAX = 5;
/** Maximum number of Pods; a decision takes a few hundred bytes. */
export const DECIDED_PODS_MAX = 10_000;

export interface Decision {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly uid: string;
  readonly schedulerName: string;
  /** Number of attempts, this one included. */
  readonly attempt: number;
  /** "placed": a node was found; "unschedulable": none; "failed": one was found and binding failed. */
  readonly outcome: "placed" | "unschedulable" | "failed";
  /** The node; for "unschedulable", the nominated one. */
  readonly nodeName?: string;
  /** As in the Pod's event. */
  readonly message: string;
  /** Rejections of the other nodes by reason: count, and the first of them. */
  readonly refused: readonly RefusedNodes[];
  /** The chosen node and the runners-up, with the score of each plugin. */
  readonly scores: readonly NodeScore[];
}

export class Decisions {
  readonly #byPod: Lru<string, readonly Decision[]>;

  constructor(podsMax = DECIDED_PODS_MAX) {
    this.#byPod = new Lru({ max: podsMax });
  }

  record(key: string, decision: Decision): void {
    const before = this.#byPod.get(key) ?? [];
    this.#byPod.set(key, [...before.slice(1 - DECISIONS_PER_POD_MAX), decision]);
  }

  /** Oldest first. Also of deleted Pods, and of others with the same name. */
  of({ namespace = "", name }: ObjectKey): readonly Decision[] {
    return this.#byPod.get(`${namespace}/${name}`) ?? [];
  }
}
