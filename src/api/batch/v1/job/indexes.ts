/**
 * Index sets of an indexed Job as text: "0-2,4,7-9", in ascending order. It is stored in the object, so it must stay short; validation
 * walks it without building a set.
 */

/** The message is upstream's. */
export class IndexesError extends Error {
  override readonly name = "IndexesError";
}

const INT64_LIMIT = 2n ** 63n;

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Counts the indexes; all must be below `completions`. Throws IndexesError. */
export function countIndexes(text: string, completions: number): number {
  if (text === "") return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(",")) {
    const { first, last } = parseInterval(part, completions);
    if (previous !== undefined && previous >= first) throw notGrowing(previous, first);
    total += last - first + 1;
    previous = last;
  }
  return total;
}

/** The first index that is in both; malformed parts are skipped, since parsing elsewhere reports them. */
export function firstOverlap(completed: string, failed: string, completions: number): number | undefined {
  const [ofCompleted, ofFailed] = [readableIntervals(completed, completions), readableIntervals(failed, completions)];
  let [c, f] = [0, 0];
  for (;;) {
    const [a, b] = [ofCompleted[c], ofFailed[f]];
    if (a === undefined || b === undefined) return undefined;
    if (a.first <= b.last && b.first <= a.last) return Math.max(a.first, b.first);
    if (a.first <= b.first) c++;
    else f++;
  }
}

function readableIntervals(text: string, completions: number): readonly Interval[] {
  if (text === "") return [];
  return text.split(",").flatMap((part) => {
    try {
      return [parseInterval(part, completions)];
    } catch (error) {
      if (error instanceof IndexesError) return [];
      throw error;
    }
  });
}

function parseInterval(text: string, completions: number): Interval {
  const [low = "", high, ...more] = text.split("-");
  if (more.length > 0) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    throw new IndexesError(`the fragment ${JSON.stringify(text)} ${rule}`);
  }
  const first = parseIndex(low, completions);
  if (high === undefined) return { first, last: first };
  const last = parseIndex(high, completions);
  if (first >= last) throw notGrowing(first, last);
  return { first, last };
}

function parseIndex(text: string, completions: number): number {
  // Go also accepts a sign and leading zeros, and nothing beyond an int64.
  const [, digits] = /^\+?0*([0-9]{1,19})$/.exec(text) ?? [];
  const number = digits === undefined ? INT64_LIMIT : BigInt(digits);
  if (number >= INT64_LIMIT) throw new IndexesError(`cannot convert string to integer for index: ${JSON.stringify(text)}`);
  if (number >= completions) throw new IndexesError(`too large index: ${JSON.stringify(text)}`);
  return Number(number);
}

function notGrowing(previous: number, current: number): IndexesError {
  return new IndexesError(`non-increasing order, previous: ${previous}, current: ${current}`);
}

/** The error of the text; undefined if it is valid. */
export function indexesProblem(text: string, completions: number): string | undefined {
  try {
    countIndexes(text, completions);
    return undefined;
  } catch (error) {
    if (error instanceof IndexesError) return error.message;
    throw error;
  }
}
