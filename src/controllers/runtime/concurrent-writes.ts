/**
 * Concurrent writes. Unlike with `Promise.all`, nothing is in flight when it settles, since the next reconciliation of the same key must
 * not overlap with the last one. Large numbers are limited, since the server accepts only so many at once (200 writes of all clients
 * together, by default) before it rejects requests.
 */

/** Per reconciliation. A controller has five in parallel: all of them fit into the server's limit. */
const AT_ONCE_MAX = 32;

/** Resolves with all results when all have ended; if some failed, rejects with the first failure then. For a few. */
export async function together<T>(works: readonly Promise<T>[]): Promise<readonly T[]> {
  return resultsOf(await Promise.allSettled(works));
}

/** The same for any number: in order, at most 32 in flight. A failure does not prevent the others. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const ends: PromiseSettledResult<R>[] = [];
  const waiting = items.entries();
  const takeTurns = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      const [end] = await Promise.allSettled([work(item)]);
      ends[index] = end;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, items.length) }, takeTurns));
  return resultsOf(ends);
}

function resultsOf<T>(ends: readonly PromiseSettledResult<T>[]): readonly T[] {
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}

/**
 * Slow start: does the same work `count` times, once, then twice at once, then four times, as long as all succeed. What rejects one (a
 * quota, a webhook) mostly rejects all, and so is called, and reported, only a few times instead of 500. Rejects with the first failure.
 */
export async function slowStart(count: number, work: () => Promise<unknown>): Promise<void> {
  let remaining = count;
  for (let batch = 1; remaining > 0; batch = Math.min(2 * batch, AT_ONCE_MAX)) {
    const size = Math.min(batch, remaining);
    await together(Array.from({ length: size }, work));
    remaining -= size;
  }
}
