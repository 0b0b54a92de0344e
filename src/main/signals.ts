/** What signals mean to a command: the first asks it to stop, any further one ends it at once. Pure; the process is an argument. */

/** Ctrl-C, what `kill` and service managers send, and a terminal that was closed. */
export const STOPPING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface SignalSource {
  on(signal: (typeof STOPPING_SIGNALS)[number], listener: () => void): unknown;
}

/** `stop` may already be aborted for another reason; the first signal after that is not the first wish to stop. */
export function stopOnSignals(source: SignalSource, stop: AbortController, endAtOnce: () => void): void {
  for (const signal of STOPPING_SIGNALS) {
    source.on(signal, () => {
      if (stop.signal.aborted) endAtOnce();
      else stop.abort();
    });
  }
}
