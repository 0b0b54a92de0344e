/** Which Pods count for a metric: ready ones, those that are not ready yet, those without a sample, and those to be ignored. Pure. */
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import type { HorizontalPodAutoscalerSettings } from "./settings.ts";

/** Value of one Pod, in thousandths. */
export interface PodSample {
  readonly atMs: number;
  readonly windowMs: number;
  readonly value: number;
}

/** By Pod name. */
export type PodSamples = ReadonlyMap<string, PodSample>;

export interface PodGroups {
  readonly readyCount: number;
  /** Names. */
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

export interface GroupingRules extends Pick<HorizontalPodAutoscalerSettings, "cpuInitializationMs" | "initialReadinessDelayMs"> {
  /** "cpu" has additional rules, since programs that start use more of it. "" for other metrics. */
  readonly resource: string;
  readonly nowMs: number;
}

export function groupPods(pods: readonly Pod[], samples: PodSamples, rules: GroupingRules): PodGroups {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let readyCount = 0;
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const sample = samples.get(name);
    if (deletionTimestamp !== undefined || pod.status?.phase === "Failed") ignored.add(name);
    else if (pod.status?.phase === "Pending") unready.add(name);
    else if (sample === undefined) missing.add(name);
    else if (rules.resource === "cpu" && isUnready(pod, sample, rules)) unready.add(name);
    else readyCount++;
  }
  return { readyCount, unready, missing, ignored };
}

function isUnready({ status }: Pod, sample: PodSample, rules: GroupingRules): boolean {
  const condition = findCondition(status?.conditions, "Ready");
  const startedAtMs = timestampMs(status?.startTime);
  if (condition === undefined || startedAtMs === undefined) return true;
  const changedAtMs = timestampMs(condition.lastTransitionTime) ?? 0;
  const isFalse = condition.status === "False";
  // While it may still be starting, a sample counts if its whole window is after the Pod became ready.
  if (startedAtMs + rules.cpuInitializationMs > rules.nowMs) return isFalse || sample.atMs < changedAtMs + sample.windowMs;
  // Afterwards only a Pod that has never been ready is left out.
  return isFalse && startedAtMs + rules.initialReadinessDelayMs > changedAtMs;
}
