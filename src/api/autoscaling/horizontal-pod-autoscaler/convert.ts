/**
 * Converts between autoscaling/v1, which has one target for CPU utilization, and autoscaling/v2, which is stored. Fields that v1 lacks are
 * kept in annotations and restored from them, so that a client that reads and writes v1 loses nothing.
 *
 * Of several metrics, the CPU utilization is restored as the last, and v1 can hold only one: both as upstream.
 */
import type {
  HorizontalPodAutoscaler as V1,
  HorizontalPodAutoscalerSpec as V1Spec,
  HorizontalPodAutoscalerStatus as V1Status,
} from "../../generated/autoscaling/v1.ts";
import type {
  HorizontalPodAutoscaler as V2,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerSpec as V2Spec,
  HorizontalPodAutoscalerStatus as V2Status,
  MetricSpec,
} from "../../generated/autoscaling/v2.ts";
import { defined } from "../../members.ts";
import {
  BEHAVIOR,
  CONDITIONS,
  CURRENT_METRICS,
  METRICS,
  withAnnotations,
  withoutRoundTripAnnotations,
  type Annotations,
} from "./annotations.ts";
import { readBehavior, writeBehavior } from "./convert-behavior.ts";
import { readMetricSpec, readMetricStatus, writeMetricSpec, writeMetricStatus } from "./convert-metrics.ts";
import { cpuUtilization, DEFAULT_METRICS, defaultBehaviorOfV1 } from "./defaults.ts";
import { readGoJson, readList, writeGoJson, type Members } from "./go-json.ts";
import { UNKNOWN_TIME } from "../../machinery/time.ts";

const EMPTY_STATUS: V2Status = { desiredReplicas: 0 };

export function toV1(autoscaler: V2): V1 {
  const { metadata, spec, status = EMPTY_STATUS } = autoscaler;
  return {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: withAnnotations(withoutRoundTripAnnotations(metadata), annotationsOf(spec, status)),
    spec: toV1Spec(spec),
    status: toV1Status(status),
  };
}

function annotationsOf(spec: V2Spec, status: V2Status): Annotations {
  const others = (spec.metrics ?? []).filter((metric) => cpuTarget(metric) === undefined);
  const { currentMetrics, conditions } = status;
  return defined<Record<string, string>>({
    [METRICS]: listText(others, writeMetricSpec),
    // Also that of the CPU, since it has the absolute amount beside the percentage.
    [CURRENT_METRICS]: listText(currentMetrics ?? [], writeMetricStatus),
    [BEHAVIOR]: spec.behavior && writeGoJson(writeBehavior(spec.behavior)),
    [CONDITIONS]: listText(conditions ?? [], writeCondition),
  });
}

function listText<T>(list: readonly T[], write: (item: T) => object): string | undefined {
  return list.length === 0 ? undefined : writeGoJson(list.map(write));
}

/** The target CPU utilization of a metric, if it has one. */
function cpuTarget({ type, resource }: MetricSpec): number | undefined {
  return type === "Resource" && resource?.name === "cpu" ? resource.target.averageUtilization : undefined;
}

function toV1Spec({ scaleTargetRef, minReplicas, maxReplicas, metrics = [] }: V2Spec): V1Spec {
  const targetCPUUtilizationPercentage = metrics.map(cpuTarget).find((share) => share !== undefined);
  return defined<V1Spec>({ scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage });
}

function toV1Status(status: V2Status): V1Status {
  const shares = (status.currentMetrics ?? []).flatMap(({ type, resource }) =>
    type === "Resource" && resource?.name === "cpu" ? [resource.current.averageUtilization] : [],
  );
  return defined<V1Status>({
    observedGeneration: status.observedGeneration,
    lastScaleTime: status.lastScaleTime,
    currentReplicas: status.currentReplicas ?? 0,
    desiredReplicas: status.desiredReplicas ?? 0,
    currentCPUUtilizationPercentage: shares.findLast((share) => share !== undefined),
  });
}

export function toV2(autoscaler: V1): V2 {
  const { metadata, spec, status } = autoscaler;
  const annotations = metadata.annotations ?? {};
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: withoutRoundTripAnnotations(metadata),
    spec: toV2Spec(spec, annotations),
    status: toV2Status(status ?? { currentReplicas: 0, desiredReplicas: 0 }, annotations),
  };
}

function toV2Spec({ scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage }: V1Spec, annotations: Annotations): V2Spec {
  const others = listOf(annotations[METRICS], readMetricSpec) ?? [];
  const cpu = targetCPUUtilizationPercentage === undefined ? [] : [cpuUtilization(targetCPUUtilizationPercentage)];
  const metrics = [...others, ...cpu];
  const behavior = annotations[BEHAVIOR] === undefined ? undefined : readBehavior(annotations[BEHAVIOR]);
  return defined<V2Spec>({
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    // v1 has this default here, since only now it is known that there are no other metrics.
    metrics: metrics.length === 0 ? DEFAULT_METRICS : metrics,
    behavior: behavior && defaultBehaviorOfV1(behavior),
  });
}

function toV2Status(status: V1Status, annotations: Annotations): V2Status {
  const share = status.currentCPUUtilizationPercentage;
  const cpu =
    share === undefined ? undefined : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: share } } } as const];
  return defined<V2Status>({
    observedGeneration: status.observedGeneration,
    lastScaleTime: status.lastScaleTime,
    currentReplicas: status.currentReplicas || undefined,
    desiredReplicas: status.desiredReplicas,
    currentMetrics: listOf(annotations[CURRENT_METRICS], readMetricStatus) ?? cpu,
    conditions: listOf(annotations[CONDITIONS], readCondition),
  });
}

/** Undefined without the annotation, or if it is malformed. */
function listOf<T>(text: string | undefined, read: (members: Members) => T): readonly T[] | undefined {
  return text === undefined ? undefined : readGoJson(text, (value) => readList(value, read));
}

function writeCondition({ type, status, lastTransitionTime, reason, message }: HorizontalPodAutoscalerCondition): object {
  return defined({ type, status, lastTransitionTime: lastTransitionTime ?? null, reason, message });
}

function readCondition(condition: Members): HorizontalPodAutoscalerCondition {
  return defined<HorizontalPodAutoscalerCondition>({
    type: condition.text("type") ?? "",
    status: condition.text("status") ?? "",
    lastTransitionTime: condition.time("lastTransitionTime") ?? UNKNOWN_TIME,
    reason: condition.text("reason") || undefined,
    message: condition.text("message") || undefined,
  });
}
