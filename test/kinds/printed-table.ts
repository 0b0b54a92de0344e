/**
 * Parses the output of `kubectl get` into cells, and fails where they are not aligned with their headers. kubectl prints headers in upper
 * case and separates columns by at least three spaces; no header has more than one space inside.
 */

/** Blanks between the end of a cell and the next column. */
const GAP_MIN = 3;

/** The cells of the only row, by header, in column order. */
export function readPrintedRow(printed: string): ReadonlyMap<string, string> {
  const [heading = "", row = "", ...more] = printed.replace(/\n$/, "").split("\n");
  if (more.length > 0) throw new Error(`Expected a table of one row, found ${more.length + 1}:\n${printed}`);
  const headers = [...heading.matchAll(/\S+(?: \S+)*/g)].map((found) => ({ header: found[0], start: found.index }));
  return new Map(headers.map(({ header, start }, index) => [header, cellBetween(row, start, headers[index + 1]?.start)]));
}

function cellBetween(row: string, start: number, end: number | undefined): string {
  const padded = row.slice(start, end);
  const cell = padded.trimEnd();
  const isAligned = cell === "" || (!cell.startsWith(" ") && (end === undefined || padded.length - cell.length >= GAP_MIN));
  if (!isAligned) throw new Error(`Expected a cell from column ${start} to ${end ?? "the end"}, found "${padded}" in "${row}"`);
  return cell;
}
