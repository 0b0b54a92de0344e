/** Timeout for a response, whatever the peer does. */
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";

/**
 * Resolves with the result of `call`, or rejects with a StatusError "Timeout" when time is up, or with the reason for which `attempt` was
 * aborted. It then returns at once, and `attempt` is aborted so that `call` is cancelled, too.
 */
export async function within<T>(
  clock: Clock,
  durationMs: number,
  attempt: AbortController,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const isOver = clock.sleep(durationMs, attempt.signal).then((): never => {
    throw new StatusError("Timeout", `No answer within ${Math.ceil(durationMs)} ms`);
  });
  try {
    return await Promise.race([call(attempt.signal), isOver]);
  } finally {
    attempt.abort();
  }
}
