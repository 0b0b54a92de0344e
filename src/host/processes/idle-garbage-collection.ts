/**
 * Returns memory when the process is idle. V8 collects garbage on allocation, so a process that was busy and is idle now would keep its
 * heap. So a long-running program that has become idle, or has accumulated garbage while idle, triggers a collection then, when no request
 * waits.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../../base/clock.ts";

/** Sampling interval, and how long the process must have been idle. */
const LOOK_EVERY_MS = 10_000;
/** Share of one CPU: an idle cluster uses less than a hundredth. */
const QUIET_PART_MAX = 0.05;
/** Minimum growth that is worth a collection, which takes some tens of milliseconds. */
const GROWTH_BYTES_MIN = 12 << 20;

/**
 * For a process that is calm but never idle, such as one with probes and controllers on a slow machine: it collects, too, but only if it is
 * worth a pause that may delay requests, and at most once a minute.
 */
const CALM_PART_MAX = 0.25;
const CALM_LOOKS_MIN = 6;
const CALM_GROWTH_BYTES_MIN = 64 << 20;

/** The first collection finds the garbage, the next ones release its pages. */
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

/** Measurements of the process. */
export interface ProcessMeter {
  /** CPU time of this process since it started. */
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
  /** Memory in use after the last collection. */
  #keptBytes: number;
  /** Remaining collections that are worth while. */
  #due = 0;
  /** Consecutive calm samples since the last collection. */
  #calmLooks = 0;

  constructor(meter: ProcessMeter = processMeter()) {
    this.#meter = meter;
    this.#cpuMs = meter.cpuMs();
    this.#atMs = meter.nowMs();
    this.#keptBytes = meter.usedBytes();
  }

  /** True if the process was calm since the last call, and a collection is worth while. */
  isDue(): boolean {
    const busyPart = this.#takeBusyPart();
    const isQuiet = busyPart <= QUIET_PART_MAX;
    this.#calmLooks = busyPart <= CALM_PART_MAX ? this.#calmLooks + 1 : 0;
    const growthBytes = this.#meter.usedBytes() - this.#keptBytes;
    // Memory in use may have shrunk and still be mostly garbage: past work counts, too.
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

  /** Share of one CPU used since the last call. */
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

/** The gc function, which Node exposes only by a command-line option. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
