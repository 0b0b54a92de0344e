/** A limit on how long one waits for an answer, whatever the other side does. */
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";

/**
 * What `call` resolves with, or a StatusError "Timeout" when the time is up; or the reason for which `attempt` is aborted by somebody
 * else. In each of these cases it returns at once, and `attempt` is aborted so that `call` gives up, too.
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
