/**
 * A state that others reach in steps, each in its own time: it is looked at until it is as expected. Only for what no single event tells
 * of (a pod that goes and the one that comes in its place); where there is one, a test waits for that.
 */
import { deepEqual } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** Only a failure takes this long; a machine that runs many tests may need minutes for what takes milliseconds alone. */
const REACHED_WITHIN_MS = 100_000;
const LOOK_EVERY_MS = 20;

/** Resolves when a look shows this. Rejects, with the difference, if none does. */
export async function becomes<T>(look: () => Promise<T>, expected: T): Promise<void> {
  const untilMs = performance.now() + REACHED_WITHIN_MS;
  for (;;) {
    const seen = await look();
    if (isDeepStrictEqual(seen, expected)) return;
    if (performance.now() > untilMs) deepEqual(seen, expected);
    await sleep(LOOK_EVERY_MS);
  }
}
