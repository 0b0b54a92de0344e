/** Jobs in groups, several at once: of the whole at most as many as there are lanes, of a group at most as many as it allows. */
export interface JobGroup {
  readonly atOnce: number;
  /** Begun in this order. */
  readonly jobs: readonly (() => Promise<void>)[];
}

/** Begins jobs of earlier groups first. Resolves when all have ended, or, after the signal, those that had begun. */
export async function inLanes(lanes: number, signal: AbortSignal, groups: readonly JobGroup[]): Promise<void> {
  const states = groups.map(({ atOnce, jobs }) => ({ atOnce, waiting: [...jobs], running: 0 }));

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
    const next = states.find((state) => state.waiting.length > 0 && state.running < state.atOnce);
    if (next !== undefined && running.size < lanes && !signal.aborted) begin(next);
    else if (running.size > 0) await Promise.race(running);
    else return;
  }
}
