/**
 * Time as an argument. No room but `host` reads the real time or sets a real timer, so the whole control plane can run
 * under virtual time (base/virtual-clock.ts), from a seed, and in a browser tab. The real clock is host/real-clock.ts.
 *
 * "Later" has only three sources: promises, `sleep` and `soon`. Whatever else makes something happen later (a file, a
 * socket, WebCrypto, `import()`) is declared with `external`, so that virtual time stands still while it is under way.
 */
export interface Clock {
  /** Milliseconds since the epoch. May jump when somebody sets the machine's clock: for timestamps, never for durations. */
  now(): number;

  /** Milliseconds since some fixed moment; never goes back. For durations and deadlines. */
  monotonic(): number;

  /** Resolves after `durationMs` (0 and less: at the next timer turn), or rejects with the signal's reason, at once if it is aborted already. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;

  /** Runs `work` once, after the promises that are ready now and before any timer; in the order of the calls. */
  soon(work: () => void): void;

  /** Declares that `operation` is finished by the outside world. Returns what it was given. */
  external<T>(operation: Promise<T>): Promise<T>;
}
