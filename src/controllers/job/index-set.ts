/**
 * A set of completion indexes as ascending intervals. A Job can have 100,000 indexes, and most sets are a few long intervals: every
 * operation depends on the number of intervals, and the text form is that of `status.completedIndexes`, which must stay short.
 */

interface Interval {
  readonly first: number;
  readonly last: number;
}

export class IndexSet {
  static readonly empty = new IndexSet([]);

  /** Ascending, with a gap between each two. */
  readonly #intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
  }

  /** In any order, with repetitions. */
  static of(indexes: Iterable<number>): IndexSet {
    const sorted = [...indexes].sort((a, b) => a - b);
    return new IndexSet(joined(sorted.map((index) => ({ first: index, last: index }))));
  }

  /**
   * Reads "0-2,4,7,8". Only indexes below `completions` remain: an elastic Job that shrinks forgets the others. Malformed parts are
   * ignored: validation prevents them.
   */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (text === undefined || text === "") return IndexSet.empty;
    const intervals = text.split(",").flatMap((part) => {
      const [, low, high = low] = /^\+?(\d+)(?:-\+?(\d+))?$/.exec(part) ?? [];
      const [first, last] = [Number(low), Math.min(Number(high), completions - 1)];
      return low === undefined || last < first ? [] : [{ first, last }];
    });
    return new IndexSet(joined(intervals.sort((a, b) => a.first - b.first)));
  }

  /** Number of indexes. */
  get size(): number {
    return this.#intervals.reduce((total, { first, last }) => total + last - first + 1, 0);
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#intervals.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#intervals[middle]?.last ?? Infinity) < index) low = middle + 1;
      else high = middle;
    }
    const found = this.#intervals[low];
    return found !== undefined && found.first <= index;
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(joined([...this.#intervals, ...other.#intervals].sort((a, b) => a.first - b.first)));
  }

  /** Number of indexes that both have. */
  overlap(other: IndexSet): number {
    let total = 0;
    let [mine, its] = [0, 0];
    for (;;) {
      const [a, b] = [this.#intervals[mine], other.#intervals[its]];
      if (a === undefined || b === undefined) return total;
      total += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
      if (a.last < b.last) mine++;
      else its++;
    }
  }

  /** The first `count` indexes below `completions` that are not in it. */
  missing(count: number, completions: number): readonly number[] {
    const found: number[] = [];
    let candidate = 0;
    const upTo = (limit: number): void => {
      for (; candidate < limit && found.length < count; candidate++) found.push(candidate);
    };
    for (const { first, last } of this.#intervals) {
      upTo(Math.min(first, completions));
      candidate = Math.max(candidate, last + 1);
    }
    upTo(completions);
    return found;
  }

  /** Two adjacent indexes are a list, more are a range: "0,1,3-5". */
  toString(): string {
    return this.#intervals
      .map(({ first, last }) => (first === last ? String(first) : `${first}${last === first + 1 ? "," : "-"}${last}`))
      .join(",");
  }
}

/** Joins overlapping and adjacent intervals, ordered by their first index. */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const result: Interval[] = [];
  for (const next of intervals) {
    const previous = result.at(-1);
    if (previous === undefined || next.first > previous.last + 1) result.push(next);
    else if (next.last > previous.last) result[result.length - 1] = { first: previous.first, last: next.last };
  }
  return result;
}
