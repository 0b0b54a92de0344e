/** Scheduler metrics under upstream's names, so that dashboards work. Counting is an addition. */
import type { Family, HistogramFamily, HistogramSample } from "../base/metrics/prometheus-text.ts";
import type { SchedulerCache } from "./cache/scheduler-cache.ts";
import { exponentialBounds } from "../base/metrics/metric-series.ts";
import { MetricSet, type CounterDefinition, type HistogramDefinition } from "../base/metrics/metric-set.ts";
import type { ExtensionPoint, PointObserver, PointStatus } from "./cycle/stopwatch.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";

export type AttemptResult = "scheduled" | "unschedulable" | "error";

/** Bucket bounds in seconds: upstream's, one millisecond doubled fifteen times. */
const BOUNDS_S: readonly number[] = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
/** Upstream's buckets of attempts per Pod. */
const ATTEMPT_BOUNDS: readonly number[] = [1, 2, 4, 8, 16];
/** Upstream's buckets of victims per preemption. */
const VICTIM_BOUNDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];

const EXTENSION_POINT: HistogramDefinition = {
  type: "histogram",
  name: "scheduler_framework_extension_point_duration_seconds",
  help: "Latency for running all plugins of a specific extension point.",
  bounds: exponentialBounds(0.0001, 2, 12),
};
const ALGORITHM: HistogramDefinition = {
  type: "histogram",
  name: "scheduler_scheduling_algorithm_duration_seconds",
  help: "Scheduling algorithm latency in seconds",
  bounds: BOUNDS_S,
};
const SERVICE_LEVEL: HistogramDefinition = {
  type: "histogram",
  name: "scheduler_pod_scheduling_sli_duration_seconds",
  help: "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.",
  bounds: exponentialBounds(0.01, 2, 20),
};
/** As upstream: the label of Pods with more attempts is that number with a plus. */
const ATTEMPTS_LABEL_MAX = 15;

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

const CLAIM_CREATIONS: CounterDefinition = {
  type: "counter",
  name: "scheduler_resourceclaim_creates_total",
  help: "Number of requests to create a ResourceClaim within the scheduler",
};

interface OfResult {
  readonly result: AttemptResult;
  readonly profile: string;
  readonly durations: Histogram;
}

export class SchedulerStatistics implements PointObserver {
  readonly #results = new Map<string, OfResult>();
  readonly #attempts = new Histogram(ATTEMPT_BOUNDS);
  readonly #victims = new Histogram(VICTIM_BOUNDS);
  readonly #metrics = new MetricSet();
  #preemptionAttempts = 0;

  ended(result: AttemptResult, profile: string, seconds: number, attempts: number): void {
    const key = `${result} ${profile}`;
    let known = this.#results.get(key);
    if (known === undefined) this.#results.set(key, (known = { result, profile, durations: new Histogram(BOUNDS_S) }));
    known.durations.observe(seconds);
    if (result === "scheduled") this.#attempts.observe(attempts);
  }

  extensionPoint(
    point: ExtensionPoint,
    { status, profile }: { readonly status: PointStatus; readonly profile: string },
    seconds: number,
  ): void {
    this.#metrics.observe(EXTENSION_POINT, { extension_point: point, status, profile }, seconds);
  }

  /** A node was chosen, or none is feasible. */
  decided(seconds: number): void {
    this.#metrics.observe(ALGORITHM, {}, seconds);
  }

  /** A Pod was bound this long after it was first ready to be scheduled. */
  bound(seconds: number, attempts: number): void {
    const label = attempts > ATTEMPTS_LABEL_MAX ? `${ATTEMPTS_LABEL_MAX}+` : String(attempts);
    this.#metrics.observe(SERVICE_LEVEL, { attempts: label }, seconds);
  }

  /** A request to create a ResourceClaim for extended resources. */
  claimCreated(status: "success" | "failure"): void {
    this.#metrics.count(CLAIM_CREATIONS, { status });
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
      ...this.#metrics.families(),
    ];
  }
}
