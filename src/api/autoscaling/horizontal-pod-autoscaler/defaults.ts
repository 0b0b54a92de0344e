/** Defaults of a HorizontalPodAutoscaler. */
import { withChanges } from "../../changes.ts";
import type { HorizontalPodAutoscaler as V1 } from "../../generated/autoscaling/v1.ts";
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HPAScalingRules,
  MetricSpec,
} from "../../generated/autoscaling/v2.ts";
import { withoutRoundTripAnnotations } from "./annotations.ts";

const CPU_UTILIZATION_PERCENT = 80;

/** Target CPU utilization in percent. */
export function cpuUtilization(percent: number): MetricSpec {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } } };
}

export const DEFAULT_METRICS: readonly MetricSpec[] = [cpuUtilization(CPU_UTILIZATION_PERCENT)];

/** Scale up: as fast as needed, but at most four replicas or double within 15 s. */
const SCALE_UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};

/** Scale down: all at once, if needed. The stabilization window is a flag of the controller, so it has no default here. */
const SCALE_DOWN: HPAScalingRules = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

export function defaultV2(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { metadata, spec } = autoscaler;
  const cleaned = withChanges(autoscaler, { metadata: withoutRoundTripAnnotations(metadata) });
  return withChanges(cleaned, {
    spec: withChanges(spec, {
      minReplicas: spec.minReplicas ?? 1,
      metrics: (spec.metrics ?? []).length === 0 ? DEFAULT_METRICS : spec.metrics,
      behavior: spec.behavior === undefined ? undefined : defaultBehavior(spec.behavior),
    }),
  });
}

/** A behavior with one direction gets both in full, so that the client sees them. */
function defaultBehavior(behavior: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  return withChanges(behavior, {
    scaleUp: behavior.scaleUp === undefined ? SCALE_UP : defaultRules(behavior.scaleUp, SCALE_UP),
    scaleDown: behavior.scaleDown === undefined ? SCALE_DOWN : defaultRules(behavior.scaleDown, SCALE_DOWN),
  });
}

function defaultRules(rules: HPAScalingRules, defaults: HPAScalingRules): HPAScalingRules {
  return withChanges(defaultAllButPolicies(rules, defaults), { policies: rules.policies ?? defaults.policies });
}

function defaultAllButPolicies(rules: HPAScalingRules, defaults: HPAScalingRules): HPAScalingRules {
  return withChanges(rules, {
    stabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? defaults.stabilizationWindowSeconds,
    selectPolicy: rules.selectPolicy ?? defaults.selectPolicy,
  });
}

/** As upstream: a direction in v1's annotation must name its policies. */
export function defaultBehaviorOfV1({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  return {
    scaleUp: scaleUp === undefined ? SCALE_UP : defaultAllButPolicies(scaleUp, SCALE_UP),
    scaleDown: scaleDown === undefined ? SCALE_DOWN : defaultAllButPolicies(scaleDown, SCALE_DOWN),
  };
}

/** The metrics are defaulted in the conversion to v2: see convert.ts. */
export function defaultV1(autoscaler: V1): V1 {
  const { spec } = autoscaler;
  return withChanges(autoscaler, { spec: withChanges(spec, { minReplicas: spec.minReplicas ?? 1 }) });
}
