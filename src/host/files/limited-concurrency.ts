/** Processes many files with limited concurrency: each is an open file meanwhile, of which a process may have few (`ulimit -n`). */
const AT_ONCE_MAX = 32;

/** Results in the order of the items. */
export async function fewAtATime<Item, Answer>(items: readonly Item[], work: (item: Item) => Promise<Answer>): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let first = 0; first < items.length; first += AT_ONCE_MAX) {
    answers.push(...(await Promise.all(items.slice(first, first + AT_ONCE_MAX).map(work))));
  }
  return answers;
}
