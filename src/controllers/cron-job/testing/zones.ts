/** Time zones for tests, by rule instead of by a database. */
import type { TimeZone } from "../time-zone.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Central European Time: summer time from the last Sunday of March to the last Sunday of October, each at 01:00 UTC. */
export const BERLIN: TimeZone = {
  offsetMsAt(timeMs) {
    const year = new Date(timeMs).getUTCFullYear();
    const isSummer = timeMs >= lastSundayMs(year, 2) + HOUR_MS && timeMs < lastSundayMs(year, 9) + HOUR_MS;
    return isSummer ? 2 * HOUR_MS : HOUR_MS;
  },
};

/** Midnight of the last Sunday of a month of 31 days. */
function lastSundayMs(year: number, month: number): number {
  const lastMs = Date.UTC(year, month, 31);
  return lastMs - new Date(lastMs).getUTCDay() * DAY_MS;
}

/** São Paulo in 2018: the clock was put forward at midnight of November 4th, so that day began at 01:00. */
export const SAO_PAULO_2018: TimeZone = {
  offsetMsAt: (timeMs) => (timeMs >= Date.UTC(2018, 10, 4, 3) ? -2 * HOUR_MS : -3 * HOUR_MS),
};

/** India: half an hour off. */
export const KOLKATA: TimeZone = { offsetMsAt: () => 5.5 * HOUR_MS };
