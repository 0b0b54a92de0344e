/**
 * What the tables of many kinds have in common: the first and the last column, and how lists, labels and selectors look in a cell.
 */
import { ageOf } from "./duration.ts";
import type { KubeObject } from "./object.ts";
import type { Column } from "./resource.ts";

/** What a cell shows where there is nothing to show. */
export const NONE = "<none>";
export const UNKNOWN = "<unknown>";
export const UNSET = "<unset>";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "What the object is called; unique among those of its kind in its namespace.",
  priority: 0,
  value: ({ metadata }) => metadata.name,
};

const CREATED_DESCRIPTION = "When the server created the object.";

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: CREATED_DESCRIPTION,
  priority: 0,
  value: ({ metadata }, { nowMs }) => ageOf(metadata.creationTimestamp, nowMs),
};

/** For kinds without a table of their own; upstream shows the moment itself there, not how long ago it was. */
export const createdAtColumn: Column = {
  name: "Created At",
  type: "date",
  description: CREATED_DESCRIPTION,
  priority: 0,
  value: ({ metadata }) => metadata.creationTimestamp ?? UNKNOWN,
};

/** A column of text: most are. */
export function textColumn<T extends KubeObject>(
  name: string,
  description: string,
  value: Column<T>["value"],
  options: { readonly priority?: 0 | 1; readonly type?: Column["type"] } = {},
): Column<T> {
  return { name, type: options.type ?? "string", description, priority: options.priority ?? 0, value };
}

/** "a=1,b=2", sorted by key; `<none>` for none. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? NONE : pairs.toSorted().join(",");
}

/** Texts with commas between them; `<none>` for none. */
export function formatList(texts: readonly string[] | undefined): string {
  return texts === undefined || texts.length === 0 ? NONE : texts.join(",");
}

/** How many of a long list a cell shows. */
export const SHOWN_MAX = 3;

/** "a,b,c + 2 more..." No more of `texts` are made than are shown; `count` says how many there are. */
export function formatFirst(texts: Iterable<string>, count: number): string {
  const shown: string[] = [];
  if (count > 0) {
    for (const text of texts) if (shown.push(text) === SHOWN_MAX) break;
  }
  return count > SHOWN_MAX ? `${shown.join(",")} + ${count - SHOWN_MAX} more...` : shown.join(",");
}

/** A text, or `<none>` where it is absent or empty. */
export function orNone(text: string | undefined): string {
  return text === undefined || text === "" ? NONE : text;
}

/** Names and images of containers, for the two columns that all workloads have with `-o wide`. */
export function containerCells(containers: readonly { readonly name: string; readonly image?: string }[] | undefined): {
  readonly names: string;
  readonly images: string;
} {
  const list = containers ?? [];
  return { names: list.map(({ name }) => name).join(","), images: list.map(({ image }) => image ?? "").join(",") };
}
