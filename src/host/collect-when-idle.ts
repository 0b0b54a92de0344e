/**
 * Gives memory back when nothing happens. V8 collects garbage when it needs room, and a process that was busy and now waits needs none: it
 * would keep what it took for as long as it is idle. So a long-running program that has become quiet, or has gathered garbage while it was,
 * has it collected then, when nobody waits for it.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../base/clock.ts";

/** How often it is looked, and for how long it must have been quiet. */
const LOOK_EVERY_MS = 10_000;
/** Of one processor: an idle cluster takes less than a hundredth. */
const QUIET_PART_MAX = 0.05;
/** What is worth a collection, which takes some tens of milliseconds. */
const GROWTH_BYTES_MIN = 12 << 20;

/** The first finds the garbage, the next gives the pages back that it was in. */
const COLLECTIONS = 2;

export function collectWhenIdle(clock: Clock): Disposable {
  const stop = new AbortController();
  void look(clock, stop.signal);
  return { [Symbol.dispose]: () => stop.abort() };
}

async function look(clock: Clock, signal: AbortSignal): Promise<void> {
  const idleness = new Idleness();
  try {
    for (;;) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      if (idleness.isDue()) idleness.collect();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export class Idleness {
  #cpu = process.cpuUsage();
  #atMs = performance.now();
  /** What was in use after the last collection. */
  #keptBytes = usedBytes();
  /** Collections that something has made worth while since. */
  #due = 0;
  #collect: (() => void) | undefined;

  /** Whether nothing has happened since it was last asked, and there is something to be had. */
  isDue(): boolean {
    const { user, system } = process.cpuUsage(this.#cpu);
    const elapsedMs = performance.now() - this.#atMs;
    this.#cpu = process.cpuUsage();
    this.#atMs = performance.now();
    const isQuiet = (user + system) / 1_000 / elapsedMs <= QUIET_PART_MAX;
    // What is in use may be less than it was and still be mostly garbage: that there was work counts, too.
    if (!isQuiet || usedBytes() - this.#keptBytes >= GROWTH_BYTES_MIN) this.#due = COLLECTIONS;
    return isQuiet && this.#due > 0;
  }

  collect(): void {
    this.#collect ??= collector();
    this.#collect();
    this.#keptBytes = usedBytes();
    this.#due -= 1;
    // What the collection took was not somebody's work.
    this.#cpu = process.cpuUsage();
    this.#atMs = performance.now();
  }
}

function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

/** The function that Node shows only to who asks for it on the command line. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
