/**
 * Polls a state that converges in several independent steps until it is as expected. Only for states that no single event announces (a pod
 * that is deleted and its replacement); where there is an event, a test waits for that.
 */
import { deepEqual } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** Reached only on failure; a machine that runs many tests may need minutes for what takes milliseconds alone. */
const REACHED_WITHIN_MS = 100_000;
const LOOK_EVERY_MS = 20;

/** Resolves when `look` returns the expected value. Rejects with the difference on timeout. */
export async function becomes<T>(look: () => Promise<T>, expected: T): Promise<void> {
  const untilMs = performance.now() + REACHED_WITHIN_MS;
  for (;;) {
    const seen = await look();
    if (isDeepStrictEqual(seen, expected)) return;
    if (performance.now() > untilMs) deepEqual(seen, expected);
    await sleep(LOOK_EVERY_MS);
  }
}
