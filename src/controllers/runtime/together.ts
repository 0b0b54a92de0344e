/**
 * Several writes at once. Unlike with `Promise.all`, nothing is still under way when it is over: the next pass of the same key starts from
 * what is there, and must not meet the rest of the last one.
 */

/** Resolves with all results when all have ended; if some failed, rejects with the first failure then. */
export async function together<T>(works: readonly Promise<T>[]): Promise<readonly T[]> {
  const ends = await Promise.allSettled(works);
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
  for (let batch = 1; remaining > 0; batch *= 2) {
    const size = Math.min(batch, remaining);
    await together(Array.from({ length: size }, work));
    remaining -= size;
  }
}
