/** "Did you mean": the candidate that is the fewest typing mistakes away. Pure. */

/** A word may have this share of its letters wrong, so that "strat" finds "start" and "xyz" finds nothing. */
const MISTAKES_SHARE_MAX = 0.4;

/** Nobody types a longer word by mistake, and comparing takes time. */
const WORD_LENGTH_MAX = 60;

/** The candidate nearest to `word`, the first of equals; undefined if none is near enough to be what was meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > WORD_LENGTH_MAX) return undefined;
  let best: { readonly candidate: string; readonly mistakes: number } | undefined;
  for (const candidate of candidates) {
    const mistakes = editDistance(word, candidate);
    if (mistakes <= Math.max(word.length, candidate.length) * MISTAKES_SHARE_MAX && (best === undefined || mistakes < best.mistakes)) {
      best = { candidate, mistakes };
    }
  }
  return best?.candidate;
}

/** How many letters must be inserted, removed, replaced or swapped with their neighbour to make one word of the other. */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (line: number, column: number) => rows[line]?.[column] ?? Infinity;
  for (let line = 1; line <= from.length; line++) {
    const row = [line];
    rows.push(row);
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(line - 1, column - 1) + (from[line - 1] === to[column - 1] ? 0 : 1);
      const isSwap = line > 1 && column > 1 && from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      const swapped = isSwap ? at(line - 2, column - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, at(line - 1, column) + 1, at(line, column - 1) + 1));
    }
  }
  return at(from.length, to.length);
}
