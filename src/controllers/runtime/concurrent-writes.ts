/**
 * Several writes at once. Unlike with `Promise.all`, nothing is still under way when it is over, since the next pass of the same key must
 * not meet the rest of the last one. What may be many goes in turns, since the server takes only so many at once (200 writes of everybody
 * together, by default) before it turns requests away.
 */

/** Of one pass. A controller has five passes side by side: all of them have room in what the server takes. */
const AT_ONCE_MAX = 32;

/** Resolves with all results when all have ended; if some failed, rejects with the first failure then. For a few. */
export async function together<T>(works: readonly Promise<T>[]): Promise<readonly T[]> {
  return resultsOf(await Promise.allSettled(works));
}

/** The same for any number: does the work for each, in order, never for more than 32 at once. A failure does not keep the others from being done. */
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
 * Does the same work `count` times: once, then twice at once, then four times, as long as all goes well. What refuses one (a quota, a
 * webhook) mostly refuses all, and so is asked, and tells people, only a few times instead of 500. Rejects with the first failure.
 */
export async function slowStart(count: number, work: () => Promise<unknown>): Promise<void> {
  let remaining = count;
  for (let batch = 1; remaining > 0; batch = Math.min(2 * batch, AT_ONCE_MAX)) {
    const size = Math.min(batch, remaining);
    await together(Array.from({ length: size }, work));
    remaining -= size;
  }
}
