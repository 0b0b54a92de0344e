/** Prints rows in columns as kubectl does: three blanks between columns, none at the end of a line. Pure. */

const GAP = "   ";

/** Widths of the columns, which a watch keeps for the rows that follow. */
export type Widths = readonly number[];

export function columnWidths(rows: readonly (readonly string[])[]): Widths {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return widths;
}

export function rowText(row: readonly string[], widths: Widths): string {
  return row
    .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
    .join(GAP)
    .trimEnd();
}

export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columnWidths(rows);
  return rows.map((row) => rowText(row, widths));
}

/** A Table of the API server, as kubectl receives it. */
export interface ServerTable {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly columnDefinitions?: readonly { readonly name: string; readonly priority?: number }[];
  readonly rows?: readonly ServerRow[];
}

export interface ServerRow {
  readonly cells: readonly unknown[];
  readonly object?: {
    readonly metadata?: { readonly namespace?: string; readonly name?: string; readonly labels?: Record<string, string> };
  };
}

export interface TableStyle {
  /** Columns of "-o wide", too. */
  readonly isWide: boolean;
  /** A first column with the namespace. */
  readonly withNamespace: boolean;
  readonly withLabels: boolean;
  /** "pod/" before each name: several kinds are printed. */
  readonly namePrefix: string;
}

export function headerCells({ columnDefinitions = [] }: ServerTable, { isWide, withNamespace, withLabels }: TableStyle): readonly string[] {
  const names = columnDefinitions.filter(({ priority = 0 }) => isWide || priority === 0).map(({ name }) => name.toUpperCase());
  return [...(withNamespace ? ["NAMESPACE"] : []), ...names, ...(withLabels ? ["LABELS"] : [])];
}

export function cellsOf(row: ServerRow, columns: ServerTable["columnDefinitions"] = [], style: TableStyle): readonly string[] {
  const { isWide, withNamespace, withLabels, namePrefix } = style;
  const { namespace = "", labels = {} } = row.object?.metadata ?? {};
  const shown = row.cells.filter((_cell, index) => isWide || (columns[index]?.priority ?? 0) === 0);
  const texts = shown.map((cell, index) => (index === 0 ? namePrefix : "") + cellText(cell));
  return [...(withNamespace ? [namespace] : []), ...texts, ...(withLabels ? [labelsText(labels)] : [])];
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "<none>";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}

export function labelsText(labels: Readonly<Record<string, string>>, separator = ","): string {
  const texts = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return texts.length === 0 ? "<none>" : texts.sort().join(separator);
}
