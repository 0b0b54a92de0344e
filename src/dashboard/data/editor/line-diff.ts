/** The difference of two texts by lines: the shortest of removals and additions (Myers). Pure. */

export interface DiffLine {
  readonly is: "same" | "removed" | "added" | "gap";
  readonly text: string;
}

/** Edits that are searched: beyond it the texts have little in common, and the whole difference is shown as one block. */
const EDITS_MAX = 500;
const CONTEXT = 3;

/** Unchanged lines that are far from every change are left out. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = edits(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (text: string): DiffLine => ({ is: "same", text });
  return withoutFarLines([...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)]);
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function edits(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const trace: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let count = 0; count <= Math.min(EDITS_MAX, a.length + b.length); count++) {
    trace.push(new Map(furthest));
    const next = new Map(furthest);
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const isDown = diagonal === -count || (diagonal !== count && at(next, diagonal - 1) < at(next, diagonal + 1));
      let x = isDown ? at(next, diagonal + 1) : at(next, diagonal - 1) + 1;
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      next.set(diagonal, x);
      if (x >= a.length && y >= b.length) return backtrack(trace, a, b);
    }
    furthest = next;
  }
  return [...a.map((text): DiffLine => ({ is: "removed", text })), ...b.map((text): DiffLine => ({ is: "added", text }))];
}

function at(furthest: ReadonlyMap<number, number>, diagonal: number): number {
  return furthest.get(diagonal) ?? -1;
}

function backtrack(trace: readonly ReadonlyMap<number, number>[], a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let count = trace.length - 1; count >= 0; count--) {
    const furthest = trace[count] ?? new Map<number, number>();
    const diagonal = x - y;
    const isDown = diagonal === -count || (diagonal !== count && at(furthest, diagonal - 1) < at(furthest, diagonal + 1));
    const previous = isDown ? diagonal + 1 : diagonal - 1;
    const fromX = count === 0 ? 0 : at(furthest, previous);
    const fromY = count === 0 ? 0 : fromX - previous;
    for (; x > fromX && y > fromY; x--, y--) lines.push({ is: "same", text: a[x - 1] ?? "" });
    if (count === 0) break;
    lines.push(isDown ? { is: "added", text: b[y - 1] ?? "" } : { is: "removed", text: a[x - 1] ?? "" });
    [x, y] = [fromX, fromY];
  }
  return lines.reverse();
}

function withoutFarLines(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>();
  for (const [index, { is }] of lines.entries())
    if (is !== "same") for (let offset = -CONTEXT; offset <= CONTEXT; offset++) near.add(index + offset);
  const shown: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) shown.push(line);
    else if (shown.at(-1)?.is !== "gap") shown.push({ is: "gap", text: "" });
  }
  return near.size === 0 ? [] : shown;
}
