/** Aligns columns of text like Go's tabwriter with the settings of upstream's dumps: minimum width 8, padding 1. */
const COLUMN_WIDTH_MIN = 8;
const PADDING = 1;

/** Rows have the same number of cells; each cell but the last ends with a comma. Characters that would break a row are replaced. */
export function alignedRows(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell, index) => (index === row.length - 1 ? harmless(cell) : `${harmless(cell)},`)));
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? COLUMN_WIDTH_MIN, widthOf(cell) + PADDING);
    });
  }
  const line = (row: readonly string[]): string =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell + " ".repeat((widths[index] as number) - widthOf(cell)))).join("");
  return cells.map((row) => `${line(row)}\n`).join("");
}

/** Code points, as Go counts them. */
function widthOf(cell: string): number {
  return Array.from(cell).length;
}

/** User names are untrusted and may contain any character. */
function harmless(cell: string): string {
  // oxlint-disable-next-line no-control-regex -- exactly those
  return cell.replace(/[\u0000-\u001f]/g, "?");
}
