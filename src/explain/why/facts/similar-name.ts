/** The name that was probably meant: at most two letters are wrong, missing, added or swapped, and at most half of them. */

const EDITS_MAX = 2;

export function similarName(name: string, names: readonly string[]): string | undefined {
  const near = names
    .map((candidate) => ({ candidate, edits: editsBetween(name, candidate) }))
    .filter(({ edits }) => edits <= Math.min(EDITS_MAX, Math.floor(name.length / 2)))
    .toSorted((a, b) => a.edits - b.edits);
  return near[0]?.candidate;
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editsBetween(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
