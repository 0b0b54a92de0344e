/** Waiting and executing requests over time, by reads and writes (read_vs_write_current_requests). */
import { queueSetConfig, specOf, type Level } from "./level.ts";
import { BOUNDS } from "./statistics.ts";
import { TimingHistogram } from "./timing-histogram.ts";

const READING: ReadonlySet<string> = new Set(["get", "list", "watch"]);

export class ReadWriteStatistics {
  readonly #counts = { executing: { readOnly: 0, mutating: 0 }, waiting: { readOnly: 0, mutating: 0 } };
  readonly histograms: Readonly<Record<"executing" | "waiting", Readonly<Record<"readOnly" | "mutating", TimingHistogram>>>>;

  constructor(nowMs: number) {
    const histogram = () => new TimingHistogram(BOUNDS.readVersusWrite, nowMs);
    const pair = () => ({ readOnly: histogram(), mutating: histogram() });
    this.histograms = { executing: pair(), waiting: pair() };
  }

  executing(verb: string, change: 1 | -1, nowMs: number): void {
    const kind = READING.has(verb) ? "readOnly" : "mutating";
    this.histograms.executing[kind].set((this.#counts.executing[kind] += change), nowMs);
  }

  waiting(verb: string, change: 1 | -1, nowMs: number): void {
    const kind = READING.has(verb) ? "readOnly" : "mutating";
    this.histograms.waiting[kind].set((this.#counts.waiting[kind] += change), nowMs);
  }

  setLimits(levels: readonly Level[], nowMs: number): void {
    const seats = levels.reduce((sum, { limits }) => sum + limits.nominal, 0);
    const places = levels.reduce((sum, { object }) => {
      const { queues, queueLengthLimit } = queueSetConfig(specOf(object));
      return sum + (queues > 0 ? queues * queueLengthLimit : 0);
    }, 0);
    for (const kind of ["readOnly", "mutating"] as const) {
      this.histograms.executing[kind].setDenominator(Math.max(1, seats), nowMs);
      this.histograms.waiting[kind].setDenominator(Math.max(1, places), nowMs);
    }
  }
}
