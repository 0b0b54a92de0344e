/**
 * What signals mean to a command: the first asks it to stop, any further one ends it at once. But for the one that `k8ts down` sends, which
 * only asks, however often it comes. Pure; the process is an argument.
 */

/** Ctrl-C, what `kill` and service managers send, and a terminal that was closed. */
export const STOPPING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What one k8ts sends to another. */
export const STOP_REQUEST = "SIGUSR2";

export interface SignalSource {
  on(signal: (typeof STOPPING_SIGNALS)[number] | typeof STOP_REQUEST, listener: () => void): unknown;
}

/** `stop` may already be aborted for another reason; the first signal after that is not the first wish to stop. */
export function stopOnSignals(source: SignalSource, stop: AbortController, endAtOnce: () => void): void {
  source.on(STOP_REQUEST, () => stop.abort());
  for (const signal of STOPPING_SIGNALS) {
    source.on(signal, () => {
      if (stop.signal.aborted) endAtOnce();
      else stop.abort();
    });
  }
}
