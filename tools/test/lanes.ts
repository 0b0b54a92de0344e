/**
 * Runs groups of jobs concurrently: at most one job per lane in total, and per group at most the group's own limit. Spare lanes are used
 * only while processors are idle, since many test processes wait for others: a run on an idle machine then takes less time, and one on a
 * busy machine does not become busier.
 */
export interface JobGroup {
  readonly concurrency: number;
  /** Started in this order. */
  readonly jobs: readonly (() => Promise<void>)[];
}

export interface SpareLanes {
  readonly count: number;
  /** Observes the processors for a while; resolves with true if another job would find an idle one. */
  hasIdleProcessor(): Promise<boolean>;
}

const NO_SPARE_LANES: SpareLanes = { count: 0, hasIdleProcessor: () => Promise.resolve(false) };

/** Starts jobs of earlier groups first. Resolves when all have ended or, after an abort, when the running ones have. */
export async function runInLanes(
  lanes: number,
  signal: AbortSignal,
  groups: readonly JobGroup[],
  spare: SpareLanes = NO_SPARE_LANES,
): Promise<void> {
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
  // One observation at a time: a job that has just started does not use its processor yet.
  let isIdle = false;
  let observation: Promise<void> | undefined;
  const observe = () =>
    (observation ??= spare.hasIdleProcessor().then((idle) => {
      isIdle = idle;
      observation = undefined;
    }));
  for (;;) {
    const next = states.find((state) => state.waiting.length > 0 && state.running < state.concurrency);
    const mayBegin = next !== undefined && !signal.aborted;
    if (mayBegin && (running.size < lanes || (isIdle && running.size < lanes + spare.count))) {
      begin(next);
      isIdle = false;
    } else if (running.size === 0) return;
    else if (mayBegin && running.size < lanes + spare.count) await Promise.race([...running, observe()]);
    else await Promise.race(running);
  }
}
