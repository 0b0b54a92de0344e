/**
 * Scaling behavior as autoscaling/v1 keeps it in an annotation: the one text in which upstream writes an internal type, with capital
 * letters and every member.
 */
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from "../../generated/autoscaling/v2.ts";
import { defined } from "../../members.ts";
import { Members, readGoJson } from "./go-json.ts";

export function writeBehavior({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): object {
  return { ScaleUp: writeRules(scaleUp), ScaleDown: writeRules(scaleDown) };
}

function writeRules(rules: HPAScalingRules | undefined): object | null {
  if (rules === undefined) return null;
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = rules;
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies: policies?.map(({ type, value, periodSeconds }) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ?? null,
    Tolerance: tolerance,
  };
}

/** Undefined if the text is malformed or empty. */
export function readBehavior(text: string): HorizontalPodAutoscalerBehavior | undefined {
  const behavior = readGoJson(text, (value) => {
    const members = new Members(value);
    return defined<HorizontalPodAutoscalerBehavior>({
      scaleUp: members.object("scaleUp", readRules),
      scaleDown: members.object("scaleDown", readRules),
    });
  });
  return behavior?.scaleUp === undefined && behavior?.scaleDown === undefined ? undefined : behavior;
}

function readRules(rules: Members): HPAScalingRules {
  const policies = rules.list("policies", readPolicy);
  return defined<HPAScalingRules>({
    stabilizationWindowSeconds: rules.integer("stabilizationWindowSeconds"),
    selectPolicy: rules.text("selectPolicy"),
    policies: policies?.length === 0 ? undefined : policies,
    tolerance: rules.quantity("tolerance"),
  });
}

function readPolicy(policy: Members): HPAScalingPolicy {
  return {
    type: policy.text("type") ?? "",
    value: policy.integer("value") ?? 0,
    periodSeconds: policy.integer("periodSeconds") ?? 0,
  };
}
