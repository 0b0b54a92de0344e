/**
 * Exponential back-off of the kubelet: 10 s, doubled after each failure, at most 5 min, reset after 10 min without one. Upstream's values,
 * and without jitter, so that users can predict the next attempt.
 */
import type { Container, EphemeralContainer } from "../../../api/generated/core/v1.ts";

export interface BackOff {
  readonly delayMs: number;
  /** When it last grew, in milliseconds since the epoch. */
  readonly updatedAtMs: number;
}

export const BACK_OFF_MIN_MS = 10_000;
const BACK_OFF_MAX_MS = 300_000;
/** Twice the maximum delay. */
const EXPIRES_AFTER_MS = 600_000;

/** Back-off after one more failure, which happened at `eventMs`. */
export function grownBackOff(
  before: BackOff | undefined,
  { eventMs, nowMs }: { readonly eventMs: number; readonly nowMs: number },
): BackOff {
  const isFresh = before === undefined || isExpired(before, eventMs);
  return { delayMs: isFresh ? BACK_OFF_MIN_MS : Math.min(before.delayMs * 2, BACK_OFF_MAX_MS), updatedAtMs: nowMs };
}

/** Delay after this many failures in a row (at least one). */
export function repeatedBackOff(failures: number): number {
  return Math.min(BACK_OFF_MIN_MS * 2 ** (failures - 1), BACK_OFF_MAX_MS);
}

/** End of the back-off for a failure at `eventMs`; undefined if it is over. */
export function backOffUntilMs(backOff: BackOff | undefined, eventMs: number): number | undefined {
  return backOff === undefined || isExpired(backOff, eventMs) ? undefined : eventMs + backOff.delayMs;
}

function isExpired({ updatedAtMs }: BackOff, eventMs: number): boolean {
  return eventMs - updatedAtMs > EXPIRES_AFTER_MS;
}

/** Back-off of the restarts of a container. As upstream, it is reset by another image and by other resources. */
export interface RestartBackOff extends BackOff {
  readonly of: string;
}

type Restarted = Pick<Container | EphemeralContainer, "name" | "image" | "resources">;

/** What a back-off of restarts applies to. */
export function restartedProgram({ image = "", resources = {} }: Restarted): string {
  return JSON.stringify([image, resources]);
}

/** The back-off of the container as it is now, of those by name. */
export function restartBackOff(known: ReadonlyMap<string, RestartBackOff>, container: Restarted): RestartBackOff | undefined {
  const backOff = known.get(container.name);
  return backOff?.of === restartedProgram(container) ? backOff : undefined;
}

/** Formats a duration of whole seconds as Go does: "10s", "2m40s", "5m0s". */
export function formatSeconds(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`;
}

/** Parses the output of formatSeconds; undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  const [, minutes = "0", seconds] = /^(?:(\d+)m)?(\d+)s$/.exec(text) ?? [];
  return seconds === undefined ? undefined : (Number(minutes) * 60 + Number(seconds)) * 1000;
}
