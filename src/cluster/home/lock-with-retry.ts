/** Locks a home whose last holder is dead or about to exit. */
import type { Clock } from "../../base/clock.ts";
import { lockDirectory, type LockAttempt } from "../../host/files/directory-lock.ts";

/** An exited process can hold its files until the last of its threads is gone; there is no event for that. */
export const LET_GO_WITHIN_MS = 5_000;
const LOCK_RETRY_MS = 20;

export async function lockWithRetry(
  directory: string,
  { withinMs, clock }: { readonly withinMs: number; readonly clock: Clock },
): Promise<LockAttempt> {
  const giveUpAtMs = clock.monotonic() + withinMs;
  for (;;) {
    const attempt = await lockDirectory(directory);
    if ("lock" in attempt || clock.monotonic() >= giveUpAtMs) return attempt;
    await clock.sleep(LOCK_RETRY_MS);
  }
}
