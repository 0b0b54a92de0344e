import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { HistogramSample } from "../base/metrics/prometheus-text.ts";
import { SchedulerStatistics } from "./metrics.ts";

const queue = { counts: () => ({ active: 0, backoff: 0, unschedulable: 0, gated: 0 }) } as never;
const cache = { sizes: { nodes: 0, pods: 0, assumedPods: 0 } } as never;

function histogram(statistics: SchedulerStatistics, wanted: string): readonly HistogramSample[] {
  const family = statistics.families(queue, cache).find(({ name }) => name === wanted);
  return family?.type === "histogram" ? family.samples : [];
}

test("the number of attempts is observed once per scheduled Pod", () => {
  const statistics = new SchedulerStatistics();
  statistics.ended("unschedulable", "a", 0.1, 1);
  statistics.ended("error", "a", 0.1, 2);
  statistics.ended("scheduled", "a", 0.1, 3);
  statistics.ended("scheduled", "b", 0.1, 17);

  const [sample] = histogram(statistics, "scheduler_pod_scheduling_attempts");

  deepEqual([sample?.counts, sample?.sum, sample?.count], [[0, 0, 1, 0, 0, 1], 20, 2]);
});

test("a value equal to a bound belongs to its bucket", () => {
  const statistics = new SchedulerStatistics();
  for (const count of [1, 2, 3, 64, 65]) statistics.victimsChosen(count);

  const [sample] = histogram(statistics, "scheduler_preemption_victims");

  deepEqual(sample?.counts, [1, 1, 1, 0, 0, 0, 1, 1]);
});
