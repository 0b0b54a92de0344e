/**
 * What happens to an unused token Secret: first it is marked as invalid, which users can undo, and a period later it is deleted. Dates have
 * the precision of a day, so each counts from its end. Pure.
 */
import { INVALID_SINCE_LABEL, LAST_USED_LABEL } from "../../api/core/v1/secret/service-account-token.ts";
import type { Secret } from "../../api/generated/core/v1.ts";
import { formatTime, parseTime } from "../../api/machinery/time.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

export interface TokenTimes {
  readonly nowMs: number;
  /** Time without use after which a token is invalid, and then deleted. */
  readonly cleanUpPeriodMs: number;
  /** Date since which the API server records the use of tokens: without one it is unknown whether a token is used. */
  readonly trackedSince: string | undefined;
}

/** `keep` without a time: until something changes. */
export type TokenDecision =
  | { readonly is: "keep"; readonly untilMs?: number }
  | { readonly is: "invalidate"; readonly since: string }
  | { readonly is: "delete" };

const KEEP: TokenDecision = { is: "keep" };

/** For a Secret that its account lists and no Pod uses. */
export function decideUnusedToken({ metadata }: Secret, { nowMs, cleanUpPeriodMs, trackedSince }: TokenTimes): TokenDecision {
  const { [LAST_USED_LABEL]: lastUsed, [INVALID_SINCE_LABEL]: invalidSince = "" } = metadata.labels ?? {};
  const trackedMs = endOfDayMs(trackedSince ?? "");
  const usedMs = lastUsed === undefined ? 0 : endOfDayMs(lastUsed);
  if (trackedMs === undefined || usedMs === undefined) return KEEP;
  const createdMs = (parseTime(metadata.creationTimestamp ?? "") ?? 0) + 1;
  const unusedMs = Math.max(trackedMs, usedMs, createdMs) + cleanUpPeriodMs;
  if (nowMs < unusedMs) return { is: "keep", untilMs: unusedMs };
  const invalidMs = endOfDayMs(invalidSince);
  if (invalidMs === undefined) return { is: "invalidate", since: formatTime(nowMs).slice(0, DATE_LENGTH) };
  const deletedMs = invalidMs + cleanUpPeriodMs;
  return nowMs < deletedMs ? { is: "keep", untilMs: deletedMs } : { is: "delete" };
}

const DATE_LENGTH = "2026-01-31".length;

/** Undefined if it is not a date such as 2026-01-31. */
function endOfDayMs(date: string): number | undefined {
  if (date.length !== DATE_LENGTH) return undefined;
  const startMs = parseTime(`${date}T00:00:00Z`);
  return startMs === undefined ? undefined : startMs + DAY_MS;
}
