import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { HPAScalingRules } from "../../api/generated/autoscaling/v2.ts";
import { limitReplicas, newHistory, withChange, withRecommendation, type History, type LimitInput } from "./scaling-limits.ts";

const SECOND = 1_000;
const NOW_MS = 10_000 * SECOND;

const UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const DOWN: HPAScalingRules = {
  stabilizationWindowSeconds: 300,
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

function limited(history: History, input: Partial<LimitInput>): readonly [replicas: number, able: string, limit: string] {
  const whole = {
    current: 5,
    desired: 5,
    min: 1,
    max: 20,
    behavior: undefined,
    downscaleStabilizationMs: 300 * SECOND,
    nowMs: NOW_MS,
    ...input,
  };
  const { replicas, ableToScale, scalingLimited } = limitReplicas(history, whole);
  return [replicas, ableToScale.reason, `${scalingLimited.reason} ${scalingLimited.status}`];
}

/** Pairs of age in seconds and replicas. */
function recommended(...entries: readonly (readonly [ageS: number, replicas: number])[]): History {
  return { recommendations: entries.map(([ageS, replicas]) => ({ replicas, atMs: NOW_MS - ageS * SECOND })), ups: [], downs: [] };
}

const NONE = recommended();

const rows: readonly [title: string, History, Partial<LimitInput>, readonly [number, string, string]][] = [
  ["a size within the bounds is set", NONE, { desired: 7 }, [7, "ReadyForNewScale", "DesiredWithinRange False"]],
  ["without a behavior at most double", NONE, { desired: 18 }, [10, "ReadyForNewScale", "ScaleUpLimit True"]],
  ["without a behavior four from one", NONE, { current: 1, desired: 9 }, [4, "ReadyForNewScale", "ScaleUpLimit True"]],
  ["no more than the maximum", NONE, { desired: 9, max: 8 }, [8, "ReadyForNewScale", "TooManyReplicas True"]],
  ["no less than the minimum", NONE, { desired: 0, min: 2 }, [2, "ReadyForNewScale", "TooFewReplicas True"]],
  [
    "the highest recommendation of five minutes prevents a scale-down",
    recommended([299, 5], [30, 4]),
    { desired: 1 },
    [5, "ScaleDownStabilized", "DesiredWithinRange False"],
  ],
  ["an older one does not", recommended([301, 5], [30, 4]), { desired: 1 }, [4, "ScaleDownStabilized", "DesiredWithinRange False"]],
  [
    "behavior: the lowest recommendation of the window prevents a scale-up",
    recommended([50, 6], [10, 8]),
    { desired: 9, behavior: { scaleUp: { ...UP, stabilizationWindowSeconds: 60 }, scaleDown: DOWN } },
    [6, "ScaleUpStabilized", "DesiredWithinRange False"],
  ],
  [
    "behavior: the highest one prevents a scale-down",
    recommended([200, 4]),
    { desired: 2, behavior: { scaleUp: UP, scaleDown: DOWN } },
    [4, "ScaleDownStabilized", "DesiredWithinRange False"],
  ],
  [
    "behavior: a scale-down without a window happens at once",
    recommended([1, 5]),
    { desired: 2, behavior: { scaleUp: UP, scaleDown: { ...DOWN, stabilizationWindowSeconds: 0 } } },
    [2, "ReadyForNewScale", "DesiredWithinRange False"],
  ],
  [
    "behavior: of two policies the larger change counts",
    NONE,
    { desired: 20, behavior: { scaleUp: UP, scaleDown: DOWN } },
    [10, "ReadyForNewScale", "ScaleUpLimit True"],
  ],
  [
    "behavior: or the smaller one",
    NONE,
    { desired: 20, behavior: { scaleUp: { ...UP, selectPolicy: "Min" }, scaleDown: DOWN } },
    [9, "ReadyForNewScale", "ScaleUpLimit True"],
  ],
  [
    "behavior: or none",
    NONE,
    { desired: 20, behavior: { scaleUp: { ...UP, selectPolicy: "Disabled" }, scaleDown: DOWN } },
    [5, "ReadyForNewScale", "ScaleUpLimit True"],
  ],
  [
    "behavior: a tenth of five is not less than one Pod up",
    NONE,
    { desired: 20, behavior: { scaleUp: { ...UP, policies: [{ type: "Percent", value: 10, periodSeconds: 60 }] }, scaleDown: DOWN } },
    [6, "ReadyForNewScale", "ScaleUpLimit True"],
  ],
  [
    "behavior: changes of the period count",
    withChange(NONE, { from: 1, to: 5 }, NOW_MS - 10 * SECOND),
    { desired: 20, behavior: { scaleUp: { ...UP, policies: [{ type: "Pods", value: 6, periodSeconds: 60 }] }, scaleDown: DOWN } },
    [7, "ReadyForNewScale", "ScaleUpLimit True"],
  ],
  [
    "behavior: scale-down by at most two Pods per minute",
    withChange(NONE, { from: 6, to: 5 }, NOW_MS - 10 * SECOND),
    {
      desired: 1,
      behavior: {
        scaleUp: UP,
        scaleDown: { ...DOWN, stabilizationWindowSeconds: 0, policies: [{ type: "Pods", value: 2, periodSeconds: 60 }] },
      },
    },
    [4, "ReadyForNewScale", "ScaleDownLimit True"],
  ],
];
for (const [title, history, input, expected] of rows) {
  test(`limits: ${title}`, () => deepEqual(limited(history, input), expected));
}

test("the history keeps an hour", () => {
  const hour = 3_600 * SECOND;
  const history = withRecommendation(withRecommendation(newHistory(1, NOW_MS), 2, NOW_MS + 10), 3, NOW_MS + hour + 5);

  deepEqual(history.recommendations, [
    { replicas: 2, atMs: NOW_MS + 10 },
    { replicas: 3, atMs: NOW_MS + hour + 5 },
  ]);
});
