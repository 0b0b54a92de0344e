/**
 * How long the kubelet waits before it tries again what failed: 10 s, twice as long each time, at most 5 min; from the beginning if all
 * went well for 10 min. By upstream's numbers, and without chance, so that people can tell when the next attempt is due.
 */
export interface BackOff {
  readonly delayMs: number;
  /** When it last grew, in milliseconds since the epoch. */
  readonly updatedAtMs: number;
}

export const BACK_OFF_MIN_MS = 10_000;
const BACK_OFF_MAX_MS = 300_000;
/** Twice the longest delay. */
const EXPIRES_AFTER_MS = 600_000;

/** After one more failure, which happened at `eventMs`. */
export function grownBackOff(
  before: BackOff | undefined,
  { eventMs, nowMs }: { readonly eventMs: number; readonly nowMs: number },
): BackOff {
  const isFresh = before === undefined || isExpired(before, eventMs);
  return { delayMs: isFresh ? BACK_OFF_MIN_MS : Math.min(before.delayMs * 2, BACK_OFF_MAX_MS), updatedAtMs: nowMs };
}

/** The delay after so many failures in a row, of one at least. */
export function repeatedBackOff(failures: number): number {
  return Math.min(BACK_OFF_MIN_MS * 2 ** (failures - 1), BACK_OFF_MAX_MS);
}

/** Until when what failed at `eventMs` has to wait; undefined if it need not. */
export function backOffUntilMs(backOff: BackOff | undefined, eventMs: number): number | undefined {
  return backOff === undefined || isExpired(backOff, eventMs) ? undefined : eventMs + backOff.delayMs;
}

function isExpired({ updatedAtMs }: BackOff, eventMs: number): boolean {
  return eventMs - updatedAtMs > EXPIRES_AFTER_MS;
}

/** As Go writes a duration of whole seconds: "10s", "2m40s", "5m0s". */
export function formatSeconds(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`;
}

/** What formatSeconds writes; undefined of anything else. */
export function parseSeconds(text: string): number | undefined {
  const [, minutes = "0", seconds] = /^(?:(\d+)m)?(\d+)s$/.exec(text) ?? [];
  return seconds === undefined ? undefined : (Number(minutes) * 60 + Number(seconds)) * 1000;
}
