/**
 * Eviction thresholds: parsed from upstream's maps of signals, and compared with observations. Pure. A threshold of 0% or 100% is none, as
 * upstream. Not here: what follows when one is met (pressure.ts, eviction-manager.ts).
 */
import { DurationError, durationToMs, parseDuration } from "../../api/machinery/duration.ts";
import { parseQuantity, QuantityError, quantityToNumber } from "../../api/machinery/quantity.ts";
import { isSignal, SIGNALS, type Observations, type Signal } from "./signals.ts";

/** A share of the capacity, or an amount. */
export type ThresholdValue = { readonly fraction: number } | { readonly amount: number };

export interface Threshold {
  readonly signal: Signal;
  readonly value: ThresholdValue;
  /** 0: a hard threshold. */
  readonly graceMs: number;
  /** How much more than the threshold has to be available again. */
  readonly minReclaim?: ThresholdValue;
}

/** By signal, as in a KubeletConfiguration: "nodefs.available" → "10%". */
export type SignalMap = Readonly<Record<string, string>>;

export interface WrittenThresholds {
  readonly hard: SignalMap;
  readonly soft: SignalMap;
  /** Durations: "1m30s". */
  readonly softGracePeriods: SignalMap;
  readonly minReclaim: SignalMap;
}

/** Upstream's defaults of evictionHard. */
export const HARD_DEFAULT: SignalMap = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
};

/**
 * No threshold, as kind configures its nodes: the disk of a developer's machine is often nearly full, and losing all Pods of a cluster
 * does not help.
 */
export const HARD_DISABLED: SignalMap = Object.fromEntries(Object.keys(HARD_DEFAULT).map((signal) => [signal, "0%"]));

export interface ParsedThresholds {
  readonly thresholds: readonly Threshold[];
  /** Messages for the user; empty if all is valid. */
  readonly problems: readonly string[];
}

export function parseThresholds({ hard, soft, softGracePeriods, minReclaim }: WrittenThresholds): ParsedThresholds {
  const problems: string[] = [];
  const reclaims = new Map<Signal, ThresholdValue>();
  for (const [signal, text] of Object.entries(minReclaim)) {
    const value = parsed(signal, text, problems, { mayBeZero: true });
    if (value !== undefined && isSignal(signal)) reclaims.set(signal, value);
  }
  const thresholds = [
    ...Object.entries(hard).map(([signal, text]) => ({ signal, text, grace: undefined })),
    ...Object.entries(soft).map(([signal, text]) => ({ signal, text, grace: softGracePeriods[signal] ?? "" })),
  ].flatMap(({ signal, text, grace }): readonly Threshold[] => {
    const value = parsed(signal, text, problems, { mayBeZero: false });
    const graceMs = grace === undefined ? 0 : parsedGraceMs(signal, grace, problems);
    if (value === undefined || graceMs === undefined || !isSignal(signal)) return [];
    const reclaim = reclaims.get(signal);
    return [{ signal, value, graceMs, ...(reclaim === undefined ? {} : { minReclaim: reclaim }) }];
  });
  return { thresholds, problems };
}

/** Undefined: none, or invalid. */
function parsed(signal: string, text: string, problems: string[], { mayBeZero }: { readonly mayBeZero: boolean }) {
  if (!isSignal(signal)) {
    problems.push(`unsupported eviction signal ${signal}; supported are ${Object.keys(SIGNALS).join(", ")}`);
    return undefined;
  }
  if (text.endsWith("%")) {
    const percent = Number(text.slice(0, -1));
    if (text === "%" || !(percent >= 0 && percent <= 100)) problems.push(`${signal} must be from 0% to 100%, is ${text}`);
    return percent > 0 && percent < 100 ? { fraction: percent / 100 } : undefined;
  }
  try {
    const amount = quantityToNumber(parseQuantity(text));
    if (amount > 0 || (mayBeZero && amount === 0)) return { amount };
    problems.push(`${signal} must be positive, is ${text}`);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    problems.push(`${signal} must be a quantity such as 100Mi, or a percentage such as 10%, is ${JSON.stringify(text)}`);
  }
  return undefined;
}

function parsedGraceMs(signal: string, text: string, problems: string[]): number | undefined {
  if (text === "") {
    problems.push(`grace period must be specified for the soft eviction threshold ${signal}`);
    return undefined;
  }
  try {
    const graceMs = durationToMs(parseDuration(text));
    if (graceMs > 0) return graceMs;
    problems.push(`the grace period of ${signal} must be positive, is ${text}`);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    problems.push(`the grace period of ${signal} must be a duration such as 1m30s, is ${JSON.stringify(text)}`);
  }
  return undefined;
}

export function amountOf(value: ThresholdValue, capacity: number): number {
  return "amount" in value ? value.amount : Math.floor(capacity * value.fraction);
}

/** Thresholds that are met. `withReclaim`: their minimum reclaim is not satisfied. Signals that were not observed do not count. */
export function metThresholds(
  thresholds: readonly Threshold[],
  observations: Observations,
  { withReclaim }: { readonly withReclaim: boolean },
): readonly Threshold[] {
  return thresholds.filter(({ signal, value, minReclaim }) => {
    const observed = observations.get(signal);
    if (observed === undefined) return false;
    const more = withReclaim && minReclaim !== undefined ? amountOf(minReclaim, observed.capacity) : 0;
    return observed.available < amountOf(value, observed.capacity) + more;
  });
}
