/**
 * Which rows of a table are shown, in which order. A result is computed from the one before: rows that did not change are neither searched
 * nor compared again, so that a batch of changes in a list of 100,000 rows costs milliseconds. Not here: the rows (live-table.ts).
 */
import type { Column, Row, TableState } from "./live-table.ts";

export interface Order {
  /** Index of a column; -1 is the namespace. */
  readonly column: number;
  readonly isDescending: boolean;
}

type Rows = Pick<TableState, "items" | "columns">;

/** All words of the filter must occur in a row, in any case; `key=value` matches a label. Without an order, rows keep that of the server. */
export class RowOrder {
  /** Texts that are searched, in lower case. */
  readonly #texts = new WeakMap<Row, string>();
  #last: Ordered | undefined;

  rowsOf({ items, columns }: Rows, filter: string, order?: Order): readonly Row[] {
    if (order === undefined) {
      this.#last = undefined;
      return this.#matching([...items.values()], filter);
    }
    const { column, isDescending } = order;
    const known = this.#last?.column === column && this.#last.filter === filter ? this.#last : undefined;
    const last: Ordered = known ?? { filter, column, isDescending, seen: new Set(), sorted: [] };
    this.#last = { ...last, isDescending, sorted: this.#sorted({ items, columns }, last, order) };
    return this.#last.sorted.map(({ row }) => row);
  }

  #matching(rows: readonly Row[], filter: string): readonly Row[] {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return words.length === 0 ? rows : rows.filter((row) => this.#matches(row, words));
  }

  #matches(row: Row, words: readonly string[]): boolean {
    let text = this.#texts.get(row);
    if (text === undefined) {
      text = [row.namespace, ...row.cells].join(" ").toLowerCase();
      this.#texts.set(row, text);
    }
    for (const word of words) if (!text.includes(word) && !(word.includes("=") && hasLabel(row, word))) return false;
    return true;
  }

  /** Updates `last.seen`. Rows of the last result are in order, so that sorting them again takes one comparison each. */
  #sorted({ items, columns }: Rows, { seen, sorted, filter, ...last }: Ordered, { column, isDescending }: Order): readonly KeyedRow[] {
    for (const row of seen) if (items.get(row.key) !== row) seen.delete(row);
    const kept = sorted.filter(({ row }) => seen.has(row));
    if (last.isDescending !== isDescending) kept.reverse();
    const added: Row[] = [];
    for (const row of items.values()) if (!seen.has(row)) added.push(row);
    if (added.length === 0) return kept;
    for (const row of added) seen.add(row);
    for (const row of this.#matching(added, filter)) kept.push({ value: sortValue(row, columns, column), row });
    return kept.sort(comparing(isDescending));
  }
}

interface Ordered {
  readonly filter: string;
  readonly column: number;
  readonly isDescending: boolean;
  /** Rows that were matched with the filter: those of `sorted`, and those that do not match. */
  readonly seen: Set<Row>;
  readonly sorted: readonly KeyedRow[];
}

interface KeyedRow {
  readonly value: string | number;
  readonly row: Row;
}

function hasLabel({ labels }: Row, word: string): boolean {
  return Object.entries(labels).some(([key, value]) => `${key}=${value}`.toLowerCase() === word);
}

function sortValue(row: Row, columns: readonly Column[], column: number): string | number {
  if (column < 0) return row.namespace;
  // The server's cell is an age at the time of the response; the youngest has the smallest.
  if (columns[column]?.name === "Age") return -row.createdMs;
  const value = row.cells[column];
  if (typeof value === "number") return value;
  const text = String(value ?? "");
  const leading = /^-?\d+(\.\d+)?/.exec(text);
  return leading === null ? text : Number(leading[0]);
}

/** Numbers come before texts; equal values are ordered by the key, so that rows do not jump when they change. */
function comparing(isDescending: boolean): (a: KeyedRow, b: KeyedRow) => number {
  const sign = isDescending ? -1 : 1;
  return (a, b) => {
    if (a.value === b.value) return a.row.key < b.row.key ? -sign : sign;
    if (typeof a.value === typeof b.value) return a.value < b.value ? -sign : sign;
    return typeof a.value === "number" ? -sign : sign;
  };
}
