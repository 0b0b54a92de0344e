/**
 * Searches for devices that take longer than an attempt may: each continues in the background, in slices of a few milliseconds, against the
 * devices that are free at the time. When it has ended, its Pod is attempted again, which begins where the search has ended.
 */
import type { AllocationResult } from "../../../api/generated/resource.k8s.io/v1.ts";
import { Lru } from "../../../base/lru.ts";
import { SelectorsPending } from "./allocator/model.ts";
import { SearchSuspended, type SearchPosition } from "./allocator/search.ts";

/** One slice, in an event-loop tick of its own. */
const SLICE_MS = 5;
/** Ended searches that no attempt has asked for, because the Pod was deleted or scheduled elsewhere, are displaced. */
const SEARCHES_MAX = 1_000;

export type DeviceSearch =
  | { readonly is: "running" }
  /** It ended there: with a solution, unless its devices are taken now. */
  | { readonly is: "found"; readonly position: SearchPosition }
  | { readonly is: "none" }
  | { readonly is: "failed"; readonly error: unknown };

export interface DeviceSearchesOptions {
  activate(podUid: string): void;
  runInBackground(work: Iterator<void>): void;
  /** Of the monotonic clock. */
  nowMs(): number;
  /** Maximum time of one search, in all its slices; 0: any time. */
  readonly timeoutMs: number;
}

/** Searches from a position until it is overdue. Throws SearchSuspended. */
export type SearchSlice = (from: SearchPosition, isOverdue: () => boolean) => readonly AllocationResult[] | undefined;

interface Begun {
  readonly podUid: string;
  readonly node: string;
  readonly position: SearchPosition;
}

export class DeviceSearches {
  readonly #options: DeviceSearchesOptions;
  /** By Pod and node. */
  readonly #searches = new Lru<string, DeviceSearch>({ max: SEARCHES_MAX });

  constructor(options: DeviceSearchesOptions) {
    this.#options = options;
  }

  /** A result is returned once. Undefined: there was no search. */
  take(podUid: string, node: string): DeviceSearch | undefined {
    const key = keyOf(podUid, node);
    const search = this.#searches.get(key);
    if (search !== undefined && search.is !== "running") this.#searches.delete(key);
    return search;
  }

  start(begun: Begun, slice: SearchSlice): void {
    this.#searches.set(keyOf(begun.podUid, begun.node), { is: "running" });
    this.#options.runInBackground(this.#search(begun, slice));
  }

  *#search({ podUid, node, position: first }: Begun, slice: SearchSlice): Generator<void, void> {
    const { timeoutMs, nowMs } = this.#options;
    let position = first;
    let spentMs = 0;
    let ended: DeviceSearch | undefined;
    while (ended === undefined) {
      yield;
      const startMs = nowMs();
      const next = this.#slice(slice, position, startMs + SLICE_MS);
      spentMs += nowMs() - startMs;
      if ("is" in next) ended = next;
      else if (timeoutMs > 0 && spentMs > timeoutMs) ended = timedOut(node);
      else ({ position } = next);
    }
    this.#searches.set(keyOf(podUid, node), ended);
    this.#options.activate(podUid);
  }

  #slice(slice: SearchSlice, position: SearchPosition, untilMs: number): DeviceSearch | { readonly position: SearchPosition } {
    try {
      const found = slice(position, () => this.#options.nowMs() > untilMs);
      return found === undefined ? { is: "none" } : { is: "found", position };
    } catch (error) {
      if (error instanceof SearchSuspended) return { position: error.position };
      // The attempt comes to the same selectors, and waits for them.
      if (error instanceof SelectorsPending) return { is: "found", position };
      return { is: "failed", error };
    }
  }
}

function keyOf(podUid: string, node: string): string {
  return `${podUid}/${node}`;
}

function timedOut(node: string): DeviceSearch {
  return { is: "failed", error: new Error(`node ${node}: timed out trying to allocate devices`) };
}
