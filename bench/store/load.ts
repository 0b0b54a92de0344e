/** Writers that each commit one new object after the other, for a while, and how fast that went. */
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
  /** Of the time that one commit took. */
  readonly medianMs: number;
}

/** A load that goes on with new keys each time it is called. */
export function loadOf(create: Create): (options: LoadOptions) => Promise<LoadResult> {
  const valueOf = podValues(VALUE_BYTES);
  let number = 0;
  return async ({ writers, durationMs }) => {
    const tookMs: number[] = [];
    const startedMs = performance.now();
    const writer = async () => {
      // The clock is read once per commit, also to see the end: a timer would never fire beside a store that answers at once.
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

/** Creation through the contract of the store, on any driver. */
export function createIn(store: Store): Create {
  return async (key, bytes) => {
    const result = await store.commit([{ type: "put", key, value: bytesValue(bytes), precondition: { is: "absent" } }]);
    if (!result.committed) throw new Error(`Cannot create ${key}: it is there already`);
  };
}
