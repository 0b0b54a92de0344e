/** Table columns that many kinds share: Name and Age, and the formatting of lists, labels and selectors in a cell. */
import { ageOf } from "./duration.ts";
import type { KubeObject } from "./object.ts";
import type { Column } from "./resource.ts";

/** Placeholder of an empty cell. */
export const NONE = "<none>";
export const UNKNOWN = "<unknown>";
export const UNSET = "<unset>";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name of the object; unique per kind and namespace.",
  priority: 0,
  value: ({ metadata }) => metadata.name,
};

const CREATED_DESCRIPTION = "Creation time of the object.";

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: CREATED_DESCRIPTION,
  priority: 0,
  value: ({ metadata }, { nowMs }) => ageOf(metadata.creationTimestamp, nowMs),
};

/** Columns of kinds without a table of their own; upstream shows the timestamp here, not the age. */
export const createdAtColumn: Column = {
  name: "Created At",
  type: "date",
  description: CREATED_DESCRIPTION,
  priority: 0,
  value: ({ metadata }) => metadata.creationTimestamp ?? UNKNOWN,
};

/** Defines a column of type string, as most are. */
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

/** Joins texts with commas; `<none>` for none. */
export function formatList(texts: readonly string[] | undefined): string {
  return texts === undefined || texts.length === 0 ? NONE : texts.join(",");
}

/** Maximum number of items of a long list in a cell. */
export const SHOWN_MAX = 3;

/** "a,b,c + 2 more..." Only the shown items of `texts` are computed; `count` is the number of all. */
export function formatFirst(texts: Iterable<string>, count: number): string {
  const shown: string[] = [];
  if (count > 0) {
    for (const text of texts) if (shown.push(text) === SHOWN_MAX) break;
  }
  return count > SHOWN_MAX ? `${shown.join(",")} + ${count - SHOWN_MAX} more...` : shown.join(",");
}

/** The text, or `<none>` if it is absent or empty. */
export function orNone(text: string | undefined): string {
  return text === undefined || text === "" ? NONE : text;
}

/** Names and images of containers, for the two `-o wide` columns of all workloads. */
export function containerCells(containers: readonly { readonly name: string; readonly image?: string }[] | undefined): {
  readonly names: string;
  readonly images: string;
} {
  const list = containers ?? [];
  return { names: list.map(({ name }) => name).join(","), images: list.map(({ image }) => image ?? "").join(",") };
}
