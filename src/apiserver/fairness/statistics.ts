/** Statistics per FlowSchema and per priority level, for the metrics. Counting is an addition; the output is in metric-families.ts. */
import { ObservationHistogram, TimingHistogram } from "./timing-histogram.ts";

/** Upstream's bounds. */
export const BOUNDS = {
  durationS: [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  queueLength: [0, 10, 25, 50, 100, 250, 500, 1000],
  watchCount: [0, 1, 10, 100, 1000, 10000],
  estimatedSeats: [1, 2, 4, 8, 16, 32, 64, 100],
  seatUtilization: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  requestUtilization: [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
  readVersusWrite: [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  demand: [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
} as const;

/** Upstream's reasons. A cancelled request counts as a queue timeout. */
export const REJECT_REASONS = ["concurrency-limit", "queue-full", "time-out"] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

/** Statistics of one FlowSchema at one priority level. */
export class FlowStatistics {
  dispatched = 0;
  readonly rejected: Record<RejectReason, number> = { "concurrency-limit": 0, "queue-full": 0, "time-out": 0 };
  waiting = 0;
  waitingSeats = 0;
  executing = 0;
  executingSeats = 0;
  notAccommodated = 0;
  readonly queueLength = new ObservationHistogram(BOUNDS.queueLength);
  readonly watchCount = new ObservationHistogram(BOUNDS.watchCount);
  readonly estimatedSeats = new ObservationHistogram(BOUNDS.estimatedSeats);
  readonly waitOfDispatched = new ObservationHistogram(BOUNDS.durationS);
  readonly waitOfRejected = new ObservationHistogram(BOUNDS.durationS);
  readonly execution = new ObservationHistogram(BOUNDS.durationS);
  readonly watchExecution = new ObservationHistogram(BOUNDS.durationS);

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0;
  }
}

/** Statistics of one priority level, over time. */
export class LevelStatistics {
  /** Values of the last dispatch, in seat-seconds. */
  readonly lastDispatch = { currentR: 0, latestS: 0, minS: 0, maxS: 0, minDiscountedS: 0, maxDiscountedS: 0 };
  epochAdvances = 0;
  readonly seatUtilization: TimingHistogram;
  readonly waitingUtilization: TimingHistogram;
  readonly executingUtilization: TimingHistogram;
  readonly demand: TimingHistogram;

  constructor(nowMs: number) {
    this.seatUtilization = new TimingHistogram(BOUNDS.seatUtilization, nowMs);
    this.waitingUtilization = new TimingHistogram(BOUNDS.requestUtilization, nowMs);
    this.executingUtilization = new TimingHistogram(BOUNDS.requestUtilization, nowMs);
    this.demand = new TimingHistogram(BOUNDS.demand, nowMs);
  }
}
