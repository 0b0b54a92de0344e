/**
 * Signal handling of commands: the first signal requests a graceful stop, any further one terminates the process. The signal that `k8ts
 * down` sends only requests, however often it is sent. Pure; the process is an argument.
 */

/** Ctrl-C, what `kill` and service managers send, and a closed terminal. */
export const STOPPING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Sent by `k8ts down`. */
export const STOP_REQUEST = "SIGUSR2";

export interface SignalSource {
  on(signal: (typeof STOPPING_SIGNALS)[number] | typeof STOP_REQUEST, listener: () => void): unknown;
}

/** `stop` may already be aborted for another reason; the first signal after that still counts as the second request. */
export function stopOnSignals(source: SignalSource, stop: AbortController, endAtOnce: () => void): void {
  source.on(STOP_REQUEST, () => stop.abort());
  for (const signal of STOPPING_SIGNALS) {
    source.on(signal, () => {
      if (stop.signal.aborted) endAtOnce();
      else stop.abort();
    });
  }
}
