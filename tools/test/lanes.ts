/** Runs groups of jobs concurrently: at most one job per lane in total, and per group at most the group's own limit. */
export interface JobGroup {
  readonly concurrency: number;
  /** Started in this order. */
  readonly jobs: readonly (() => Promise<void>)[];
}

/** Starts jobs of earlier groups first. Resolves when all have ended or, after an abort, when the running ones have. */
export async function runInLanes(lanes: number, signal: AbortSignal, groups: readonly JobGroup[]): Promise<void> {
  const states = groups.map(({ concurrency, jobs }) => ({ concurrency, waiting: [...jobs], running: 0 }));

  const running = new Set<Promise<void>>();
  const begin = (state: (typeof states)[number]) => {
    const job = state.waiting.shift() as () => Promise<void>;
    state.running += 1;
    const ended: Promise<void> = job().finally(() => {
      state.running -= 1;
      running.delete(ended);
    });
    running.add(ended);
  };
  for (;;) {
    const next = states.find((state) => state.waiting.length > 0 && state.running < state.concurrency);
    if (next !== undefined && running.size < lanes && !signal.aborted) begin(next);
    else if (running.size > 0) await Promise.race(running);
    else return;
  }
}
