/**
 * What was decided about each Pod, and why: the last few decisions of the Pods that were decided last, for whoever asks "why is it there,
 * why is it nowhere". Nothing depends on it; it is bounded, and gone with the process.
 */
import type { ObjectKey } from "../client/client.ts";
import { Lru } from "../base/lru.ts";
import type { RefusedNodes } from "./cycle/refusals.ts";
import type { NodeScore } from "./cycle/scores.ts";

/** Enough to see a change of mind. */
export const DECISIONS_PER_POD_MAX = 5;
/** Pods that are remembered; a decision takes a few hundred bytes. */
export const DECIDED_PODS_MAX = 10_000;

export interface Decision {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly uid: string;
  readonly schedulerName: string;
  /** How often the Pod was tried, this time included. */
  readonly attempt: number;
  /** "placed": a node was found; "unschedulable": none; "failed": one was found and could not be had. */
  readonly outcome: "placed" | "unschedulable" | "failed";
  /** Where it goes; of "unschedulable", where others are asked to leave for it. */
  readonly nodeName?: string;
  /** As in the Pod's event. */
  readonly message: string;
  /** Why not elsewhere, by reason: how many nodes, and the first of them. */
  readonly refused: readonly RefusedNodes[];
  /** The chosen node and the next best, with what each plugin gave. */
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

  /** Oldest first. Also of Pods that are gone, and of others that had the same name. */
  of({ namespace = "", name }: ObjectKey): readonly Decision[] {
    return this.#byPod.get(`${namespace}/${name}`) ?? [];
  }
}
