/** Sizes of the keys and values of lists and maps. */
import type { Expression } from "../syntax/ast.ts";
import { union, type Range } from "./size.ts";

export interface EntrySize {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

/** What is known of the parts of an expression. */
export interface EntrySizes {
  entryOf(expression: Expression): EntrySize | undefined;
  setEntry(expression: Expression, entry: EntrySize | undefined): void;
}

/** Joined sizes; unknown if either is. */
export function unionEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) };
}
