import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { HistogramSample } from "../base/metrics/prometheus-text.ts";
import { SchedulerFigures } from "./metrics.ts";

const queue = { counts: () => ({ active: 0, backoff: 0, unschedulable: 0, gated: 0 }) } as never;
const cache = { sizes: { nodes: 0, pods: 0, assumedPods: 0 } } as never;

function histogram(figures: SchedulerFigures, wanted: string): readonly HistogramSample[] {
  const family = figures.families(queue, cache).find(({ name }) => name === wanted);
  return family?.type === "histogram" ? family.samples : [];
}

test("the number of attempts is observed once per scheduled Pod", () => {
  const figures = new SchedulerFigures();
  figures.ended("unschedulable", "a", 0.1, 1);
  figures.ended("error", "a", 0.1, 2);
  figures.ended("scheduled", "a", 0.1, 3);
  figures.ended("scheduled", "b", 0.1, 17);

  const [sample] = histogram(figures, "scheduler_pod_scheduling_attempts");

  deepEqual([sample?.counts, sample?.sum, sample?.count], [[0, 0, 1, 0, 0, 1], 20, 2]);
});

test("a value equal to a bound belongs to its bucket", () => {
  const figures = new SchedulerFigures();
  for (const count of [1, 2, 3, 64, 65]) figures.victimsChosen(count);

  const [sample] = histogram(figures, "scheduler_preemption_victims");

  deepEqual(sample?.counts, [1, 1, 1, 0, 0, 0, 1, 1]);
});
