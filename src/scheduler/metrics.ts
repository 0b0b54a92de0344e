/** Scheduler metrics under upstream's names, so that dashboards work. Counting is an addition. */
import type { Family, HistogramFamily, HistogramSample } from "../base/metrics/prometheus-text.ts";
import type { SchedulerCache } from "./cache/scheduler-cache.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";

export type AttemptResult = "scheduled" | "unschedulable" | "error";

/** Bucket bounds in seconds: upstream's, one millisecond doubled fifteen times. */
const BOUNDS_S: readonly number[] = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
/** Upstream's buckets of attempts per Pod. */
const ATTEMPT_BOUNDS: readonly number[] = [1, 2, 4, 8, 16];
/** Upstream's buckets of victims per preemption. */
const VICTIM_BOUNDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];

class Histogram {
  readonly #bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
    this.count++;
  }

  sample(labels: HistogramSample["labels"]): HistogramSample {
    return { labels, counts: this.counts, sum: this.sum, count: this.count };
  }
}

interface OfResult {
  readonly result: AttemptResult;
  readonly profile: string;
  readonly durations: Histogram;
}

export class SchedulerStatistics {
  readonly #results = new Map<string, OfResult>();
  readonly #attempts = new Histogram(ATTEMPT_BOUNDS);
  readonly #victims = new Histogram(VICTIM_BOUNDS);
  #preemptionAttempts = 0;

  ended(result: AttemptResult, profile: string, seconds: number, attempts: number): void {
    const key = `${result} ${profile}`;
    let known = this.#results.get(key);
    if (known === undefined) this.#results.set(key, (known = { result, profile, durations: new Histogram(BOUNDS_S) }));
    known.durations.observe(seconds);
    if (result === "scheduled") this.#attempts.observe(attempts);
  }

  /** A preemption attempt, whatever its result. */
  preemptionTried(): void {
    this.#preemptionAttempts++;
  }

  /** Number of victims of one preemption. */
  victimsChosen(count: number): void {
    this.#victims.observe(count);
  }

  families(queue: SchedulingQueue, cache: SchedulerCache): readonly (Family | HistogramFamily)[] {
    const results = [...this.#results.values()];
    const { nodes, pods, assumedPods } = cache.sizes;
    const { active, backoff, unschedulable, gated } = queue.counts();
    const sized = (counts: Readonly<Record<string, number>>, label: string): Family["samples"] =>
      Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
    return [
      {
        name: "scheduler_schedule_attempts_total",
        type: "counter",
        help: "Number of scheduling attempts by result",
        samples: results.map(({ result, profile, durations }) => ({ labels: { result, profile }, value: durations.count })),
      },
      {
        name: "scheduler_scheduling_attempt_duration_seconds",
        type: "histogram",
        help: "Latency of a scheduling attempt in seconds, from popping the Pod off the queue to its binding or rejection",
        bounds: BOUNDS_S,
        samples: results.map(({ result, profile, durations }) => durations.sample({ result, profile })),
      },
      {
        name: "scheduler_pod_scheduling_attempts",
        type: "histogram",
        help: "Number of attempts to schedule a Pod successfully",
        bounds: ATTEMPT_BOUNDS,
        samples: [this.#attempts.sample({})],
      },
      {
        name: "scheduler_pending_pods",
        type: "gauge",
        help: "Number of pending Pods by queue",
        samples: sized({ active, backoff, unschedulable, gated }, "queue"),
      },
      {
        name: "scheduler_cache_size",
        type: "gauge",
        help: "Number of nodes, Pods and assumed Pods in the scheduler cache",
        samples: sized({ nodes, pods, assumed_pods: assumedPods }, "type"),
      },
      {
        name: "scheduler_preemption_attempts_total",
        type: "counter",
        help: "Number of preemption attempts",
        samples: [{ labels: {}, value: this.#preemptionAttempts }],
      },
      {
        name: "scheduler_preemption_victims",
        type: "histogram",
        help: "Number of preemption victims per preemption",
        bounds: VICTIM_BOUNDS,
        samples: [this.#victims.sample({})],
      },
    ];
  }
}
