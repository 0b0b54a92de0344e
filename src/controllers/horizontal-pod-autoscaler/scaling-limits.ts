/**
 * From the number of replicas that the metrics ask for to the one that is set: stabilization over the recent recommendations, the rates of
 * `behavior` over the recent changes, and the bounds of the autoscaler. Pure: history and time are arguments.
 */
import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from "../../api/generated/autoscaling/v2.ts";

export interface Recommendation {
  readonly replicas: number;
  readonly atMs: number;
}

/** A change that was made, as a positive number. */
export interface ScaleChange {
  readonly replicas: number;
  readonly atMs: number;
}

/** What an autoscaler recommended and did; lost with the process, as upstream's. */
export interface History {
  readonly recommendations: readonly Recommendation[];
  readonly ups: readonly ScaleChange[];
  readonly downs: readonly ScaleChange[];
}

export interface LimitInput {
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly behavior: HorizontalPodAutoscalerBehavior | undefined;
  readonly downscaleStabilizationMs: number;
  readonly nowMs: number;
}

/** Status, reason and message of a condition. */
export interface Verdict {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export interface Limited {
  readonly replicas: number;
  readonly ableToScale: Verdict;
  readonly scalingLimited: Verdict;
}

/** Without a behavior: at most double, or four replicas. */
const SCALE_UP_FACTOR = 2;
const SCALE_UP_MIN = 4;
/** The longest window that an autoscaler may have. */
export const WINDOW_MAX_MS = 3_600_000;
/** Four times as many as an hour has regular reconciliations. */
const ENTRIES_MAX = 960;

const UP_STABILIZED = "recent recommendations were lower than current one, applying the lowest recent recommendation";
const DOWN_STABILIZED = "recent recommendations were higher than current one, applying the highest recent recommendation";

export function limitReplicas(history: History, input: LimitInput): Limited {
  const stable = input.behavior === undefined ? stabilizedDown(history, input) : stabilized(history, input, input.behavior);
  const isUp = input.behavior !== undefined && input.desired >= input.current;
  const ableToScale: Verdict =
    stable === input.desired
      ? { status: "True", reason: "ReadyForNewScale", message: "recommended size matches current size" }
      : { status: "True", reason: isUp ? "ScaleUpStabilized" : "ScaleDownStabilized", message: isUp ? UP_STABILIZED : DOWN_STABILIZED };
  const { replicas, ...why } = input.behavior === undefined ? bounded(stable, input) : rated(history, stable, input, input.behavior);
  return { replicas, ableToScale, scalingLimited: { status: replicas === stable ? "False" : "True", ...why } };
}

// ── stabilization ───────────────────────────────────────────────────────────────────────────────────

function stabilizedDown({ recommendations }: History, { desired, nowMs, downscaleStabilizationMs }: LimitInput): number {
  const recent = recommendations.filter(({ atMs }) => atMs >= nowMs - downscaleStabilizationMs);
  return Math.max(desired, ...recent.map(({ replicas }) => replicas));
}

function stabilized({ recommendations }: History, input: LimitInput, { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): number {
  const { current, desired, nowMs, downscaleStabilizationMs } = input;
  const since = (windowMs: number): readonly number[] =>
    recommendations.filter(({ atMs }) => atMs > nowMs - windowMs).map(({ replicas }) => replicas);
  const downMs =
    scaleDown?.stabilizationWindowSeconds === undefined ? downscaleStabilizationMs : scaleDown.stabilizationWindowSeconds * 1_000;
  const lowest = Math.min(desired, ...since((scaleUp?.stabilizationWindowSeconds ?? 0) * 1_000));
  const highest = Math.max(desired, ...since(downMs));
  return Math.min(Math.max(current, lowest), highest);
}

// ── rates and bounds ────────────────────────────────────────────────────────────────────────────────

type Bounded = Omit<Verdict, "status"> & { readonly replicas: number };

const WITHIN_RANGE = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };
const TOO_MANY = { reason: "TooManyReplicas", message: "the desired replica count is more than the maximum replica count" };
const TOO_FEW = { reason: "TooFewReplicas", message: "the desired replica count is less than the minimum replica count" };
const TOO_FAST_UP = { reason: "ScaleUpLimit", message: "the desired replica count is increasing faster than the maximum scale rate" };
const TOO_FAST_DOWN = { reason: "ScaleDownLimit", message: "the desired replica count is decreasing faster than the maximum scale rate" };

function bounded(desired: number, { current, min, max }: LimitInput): Bounded {
  const limit = Math.max(SCALE_UP_FACTOR * current, SCALE_UP_MIN);
  if (desired < min) return { replicas: min, ...TOO_FEW };
  if (desired > Math.min(max, limit)) return { replicas: Math.min(max, limit), ...(max > limit ? TOO_FAST_UP : TOO_MANY) };
  return { replicas: desired, ...WITHIN_RANGE };
}

function rated(history: History, desired: number, input: LimitInput, { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): Bounded {
  const { current, min, max } = input;
  if (desired > current) {
    const limit = Math.max(current, rateLimit(history, input, scaleUp, 1));
    if (desired > Math.min(max, limit)) return { replicas: Math.min(max, limit), ...(max > limit ? TOO_FAST_UP : TOO_MANY) };
  }
  if (desired < current) {
    const limit = Math.min(current, rateLimit(history, input, scaleDown, -1));
    if (desired < Math.max(min, limit)) return { replicas: Math.max(min, limit), ...(min < limit ? TOO_FAST_DOWN : TOO_FEW) };
  }
  return { replicas: desired, ...WITHIN_RANGE };
}

/** The farthest number of replicas that the policies allow in a direction. */
function rateLimit({ ups, downs }: History, { current, nowMs }: LimitInput, rules: HPAScalingRules = {}, direction: 1 | -1): number {
  const { selectPolicy = "Max", policies = [] } = rules;
  if (selectPolicy === "Disabled") return current;
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const changed = (changes: readonly ScaleChange[]): number =>
      changes.filter(({ atMs }) => atMs > nowMs - periodSeconds * 1_000).reduce((sum, { replicas }) => sum + replicas, 0);
    const atStart = current - changed(ups) + changed(downs);
    if (type === "Pods") return atStart + direction * value;
    const limit = atStart * (1 + (direction * value) / 100);
    // Rounded away from the start, or a small workload would never change.
    return direction === 1 ? Math.ceil(limit) : Math.trunc(limit);
  });
  const isHighest = (selectPolicy === "Max") === (direction === 1);
  return isHighest ? Math.max(...limits) : Math.min(...limits);
}

// ── history ─────────────────────────────────────────────────────────────────────────────────────────

/** The history of an autoscaler that is observed for the first time. */
export function newHistory(current: number, nowMs: number): History {
  return { recommendations: [{ replicas: current, atMs: nowMs }], ups: [], downs: [] };
}

export function withRecommendation(history: History, replicas: number, nowMs: number): History {
  return { ...history, recommendations: recent([...history.recommendations, { replicas, atMs: nowMs }], nowMs) };
}

/** Changes are kept only for a behavior: nothing else reads them. */
export function withChange(history: History, { from, to }: { readonly from: number; readonly to: number }, nowMs: number): History {
  const change = { replicas: Math.abs(to - from), atMs: nowMs };
  return to > from
    ? { ...history, ups: recent([...history.ups, change], nowMs) }
    : { ...history, downs: recent([...history.downs, change], nowMs) };
}

function recent<T extends { readonly atMs: number }>(entries: readonly T[], nowMs: number): readonly T[] {
  return entries.filter(({ atMs }) => atMs >= nowMs - WINDOW_MAX_MS).slice(-ENTRIES_MAX);
}
