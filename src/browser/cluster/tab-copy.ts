/** Copies of a cluster in the same tab, on which `why` tries its remedies. */
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { copyOf } from "../../explain/live/copied-entries.ts";
import type { CopyCluster } from "../../explain/live/try-remedies.ts";
import { startTabCluster } from "./tab-cluster.ts";

/** So that the same question has the same answer. */
const SEED = 1;

const MINUTES_10_MS = 10 * 60_000;

/** `macrotask`: as of the clock of the original. */
export function tabCopies(macrotask: () => Promise<void>): CopyCluster {
  return async (view) => {
    const { entries, revision, nodes } = copyOf(view);
    const clock = new VirtualClock({ macrotask, startMs: view.nowMs });
    const random = seededRandom(SEED).derive(`from revision ${revision}`);
    const copy = await startTabCluster({ clock, random, nodes, from: { entries, revision } });
    return {
      client: copy.client,
      clock,
      settle: () => copy.driver.settle(),
      advance: () => copy.driver.advance(MINUTES_10_MS),
      [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
    };
  };
}
