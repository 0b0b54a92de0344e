/** "Did you mean": the candidate with the smallest edit distance. Pure. */

/** Maximum share of wrong letters, so that "strat" matches "start" and "xyz" matches nothing. */
const MISTAKES_SHARE_MAX = 0.4;

/** Longer words are not typing errors, and comparing them is costly. */
const WORD_LENGTH_MAX = 60;

/** The nearest candidate, the first of equals; undefined if none is near enough. */
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

/** Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
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
