/** How long to wait before a process that has ended is started again. Pure. */

const WAIT_MIN_MS = 1_000;
const WAIT_MAX_MS = 30_000;
/** A process that ran longer than this did not exit because of its start. */
const STEADY_MS = 60_000;

/** `beforeMs`: how long it was waited the last time; 0 if never. */
export function restartWaitMs(beforeMs: number, ranMs: number): number {
  if (beforeMs === 0 || ranMs >= STEADY_MS) return WAIT_MIN_MS;
  return Math.min(beforeMs * 2, WAIT_MAX_MS);
}
