/** Concurrent writers that each commit new objects sequentially for a given duration, and their rate. */
import type { Store } from "../../src/store/store.ts";
import { bytesValue } from "../../src/store/value.ts";
import { median } from "../figure.ts";
import { podKey, podValues } from "./objects.ts";

/** "About 1 KB": a small ConfigMap. */
const VALUE_BYTES = 1_024;

/** Rejects unless the object was new and is as durable as the subject promises. */
export type Create = (key: string, bytes: Uint8Array) => Promise<void>;

export interface LoadOptions {
  readonly writers: number;
  readonly durationMs: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Latency of one commit. */
  readonly medianMs: number;
}

/** A load that continues with new keys on each call. */
export function loadOf(create: Create): (options: LoadOptions) => Promise<LoadResult> {
  const valueOf = podValues(VALUE_BYTES);
  let number = 0;
  return async ({ writers, durationMs }) => {
    const tookMs: number[] = [];
    const startedMs = performance.now();
    const writer = async () => {
      // The clock is read once per commit, also to detect the end: a timer would never fire beside a store that resolves in microtasks.
      for (let beganMs = startedMs; beganMs < startedMs + durationMs;) {
        number += 1;
        await create(podKey(number), valueOf(number));
        const endedMs = performance.now();
        tookMs.push(endedMs - beganMs);
        beganMs = endedMs;
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
    return { perSecond: (tookMs.length * 1_000) / (performance.now() - startedMs), medianMs: median(tookMs) };
  };
}

/** Creates an object through the store contract, on any driver. */
export function createIn(store: Store): Create {
  return async (key, bytes) => {
    const result = await store.commit([{ type: "put", key, value: bytesValue(bytes), precondition: { is: "absent" } }]);
    if (!result.committed) throw new Error(`Cannot create ${key}: it already exists`);
  };
}
