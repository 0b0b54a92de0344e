/**
 * Time as an argument. Only `host` reads the real time or sets a real timer, so that the whole control plane can run under virtual time
 * (base/virtual-clock.ts), from a seed, and in a browser tab. The real clock is host/real-clock.ts.
 *
 * Work is deferred in three ways only: promises, `sleep` and `soon`. Anything else that completes later (a file, a socket, WebCrypto,
 * `import()`) is declared with `external`, so that virtual time does not advance while it is pending.
 */
export interface Clock {
  /** Milliseconds since the epoch. May jump when the machine's clock is set: for timestamps, never for durations. */
  now(): number;

  /** Milliseconds since an arbitrary fixed instant; never decreases. For durations and deadlines. */
  monotonic(): number;

  /**
   * Resolves after `durationMs` (0 or less: at the next timer tick). Rejects with the signal's reason, immediately if it is already
   * aborted.
   */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;

  /** Runs `work` once, after all promises that are ready and before any timer; in call order. */
  soon(work: () => void): void;

  /** Declares that `operation` completes outside of the clock's control. Returns its argument. */
  external<T>(operation: Promise<T>): Promise<T>;
}
