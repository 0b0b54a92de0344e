/** Which rows of a table are shown, in which order. Pure. */
import type { Column, Row, TableState } from "./live-table.ts";

export interface Order {
  /** Index of a column; -1 is the namespace. */
  readonly column: number;
  readonly isDescending: boolean;
}

/** All words of the filter must occur in a row, in any case; `key=value` matches a label. Without an order, rows keep that of the server. */
export function orderedRows({ items, columns }: Pick<TableState, "items" | "columns">, filter: string, order?: Order): readonly Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown: Row[] = [];
  for (const row of items.values()) if (matches(row, words)) shown.push(row);
  return order === undefined ? shown : sorted(shown, columns, order);
}

function matches(row: Row, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [row.namespace, ...row.cells].join(" ").toLowerCase();
  return words.every((word) => text.includes(word) || (word.includes("=") && hasLabel(row, word)));
}

function hasLabel({ labels }: Row, word: string): boolean {
  return Object.entries(labels).some(([key, value]) => `${key}=${value}`.toLowerCase() === word);
}

type SortValue = string | number;

/** Keys are computed once per row: comparing is the hot path. */
function sorted(rows: readonly Row[], columns: readonly Column[], { column, isDescending }: Order): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  const keyed = rows.map((row): [SortValue, Row] => [sortValue(row, columns, column), row]);
  keyed.sort(([a], [b]) => (a === b ? 0 : compare(a, b) * sign));
  return keyed.map(([, row]) => row);
}

function sortValue(row: Row, columns: readonly Column[], column: number): SortValue {
  if (column < 0) return row.namespace;
  // The server's cell is an age at the time of the response; the youngest has the smallest.
  if (columns[column]?.name === "Age") return -row.createdMs;
  const value = row.cells[column];
  if (typeof value === "number") return value;
  const text = String(value ?? "");
  const leading = /^-?\d+(\.\d+)?/.exec(text);
  return leading === null ? text : Number(leading[0]);
}

/** Numbers come before texts. */
function compare(a: SortValue, b: SortValue): number {
  if (typeof a === typeof b) return a < b ? -1 : 1;
  return typeof a === "number" ? -1 : 1;
}
