/**
 * Returns memory when the process is idle. V8 collects garbage on allocation, so a process that was busy and is idle now would keep its
 * heap. So a long-running program that has become idle, or has accumulated garbage while idle, triggers a collection then, when no request
 * waits.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../../base/clock.ts";

/** How often it is looked, and for how long it must have been quiet. */
const LOOK_EVERY_MS = 10_000;
/** Of one processor: an idle cluster takes less than a hundredth. */
const QUIET_PART_MAX = 0.05;
/** What is worth a collection, which takes some tens of milliseconds. */
const GROWTH_BYTES_MIN = 12 << 20;

/**
 * For a process that is calm but never idle, such as one with probes and controllers on a slow machine: it collects, too, but only if it is
 * worth a pause that may delay requests, and at most once a minute.
 */
const CALM_PART_MAX = 0.25;
const CALM_LOOKS_MIN = 6;
const CALM_GROWTH_BYTES_MIN = 64 << 20;

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

/** What is measured of the process. */
export interface ProcessMeter {
  /** Processor time of this process since it started. */
  cpuMs(): number;
  nowMs(): number;
  /** Memory in use, garbage included. */
  usedBytes(): number;
  /** Collects all garbage. */
  collect(): void;
}

export class Idleness {
  readonly #meter: ProcessMeter;
  #cpuMs: number;
  #atMs: number;
  /** What was in use after the last collection. */
  #keptBytes: number;
  /** Collections that something has made worth while since. */
  #due = 0;
  /** Looks in a row, since the last collection, that found the process calm. */
  #calmLooks = 0;

  constructor(meter: ProcessMeter = processMeter()) {
    this.#meter = meter;
    this.#cpuMs = meter.cpuMs();
    this.#atMs = meter.nowMs();
    this.#keptBytes = meter.usedBytes();
  }

  /** Whether little enough has happened since it was last asked, and there is something to be had. */
  isDue(): boolean {
    const busyPart = this.#takeBusyPart();
    const isQuiet = busyPart <= QUIET_PART_MAX;
    this.#calmLooks = busyPart <= CALM_PART_MAX ? this.#calmLooks + 1 : 0;
    const growthBytes = this.#meter.usedBytes() - this.#keptBytes;
    // What is in use may be less than it was and still be mostly garbage: that there was work counts, too.
    if (!isQuiet || growthBytes >= GROWTH_BYTES_MIN) this.#due = COLLECTIONS;
    if (this.#due === 0) return false;
    return isQuiet || (this.#calmLooks >= CALM_LOOKS_MIN && growthBytes >= CALM_GROWTH_BYTES_MIN);
  }

  collect(): void {
    this.#meter.collect();
    this.#keptBytes = this.#meter.usedBytes();
    this.#due -= 1;
    this.#calmLooks = 0;
    // The CPU time of the collection does not count as work.
    this.#takeBusyPart();
  }

  /** The part of one processor that this process took since the last call. */
  #takeBusyPart(): number {
    const [cpuMs, nowMs] = [this.#meter.cpuMs(), this.#meter.nowMs()];
    const part = (cpuMs - this.#cpuMs) / (nowMs - this.#atMs);
    this.#cpuMs = cpuMs;
    this.#atMs = nowMs;
    return part;
  }
}

function processMeter(): ProcessMeter {
  let collect: (() => void) | undefined;
  return {
    cpuMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    nowMs: () => performance.now(),
    usedBytes,
    collect() {
      collect ??= collector();
      collect();
    },
  };
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
