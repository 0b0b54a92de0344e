/**
 * Converts objects to a meta.k8s.io Table: what `kubectl get` prints, computed by the server so that every client shows the same columns. A
 * row carries the object's metadata by default, the whole object or nothing if the client requests it (`includeObject`).
 */
import { invalid, type FieldError } from "./field-error.ts";
import type { KubeObject, ListMeta } from "./object.ts";
import type { CellValue, Column, Resource } from "./resource.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

export type TableRow = {
  readonly cells: readonly CellValue[];
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[];
  readonly object: KubeObject | null;
};

export type TableColumnDefinition = {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
};

export type Table = {
  readonly kind: "Table";
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  /** Null in a watch after its first event: the client already has them. */
  readonly columnDefinitions: readonly TableColumnDefinition[] | null;
  readonly rows: readonly TableRow[];
};

export interface RowOptions<T extends KubeObject> {
  readonly resource: Pick<Resource<T>, "columns" | "rowConditions">;
  readonly nowMs: number;
  /** Default: Metadata. */
  readonly includeObject?: IncludeObject;
  /** Version of meta.k8s.io that the client requested. Default: v1. */
  readonly metaVersion?: "v1" | "v1beta1";
  /** Converts a whole object to the requested version. Default: unchanged. */
  readonly present?: (object: T) => KubeObject;
}

export interface TableOptions<T extends KubeObject> extends RowOptions<T> {
  /** Metadata of a list. A single object contributes its own resourceVersion. */
  readonly list?: ListMeta;
  /** Default: true. */
  readonly hasHeaders?: boolean;
}

/** Set on the bookmark that ends the initial events of a watch; kept for every includeObject. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export function tableOf<T extends KubeObject>(objects: readonly T[], options: TableOptions<T>): Table {
  return { ...tableHead(objects[0], options), rows: objects.map((object) => tableRow(object, options)) };
}

/** The Table without its rows, for callers that stream these. */
export function tableHead<T extends KubeObject>(first: T | undefined, options: TableOptions<T>): Omit<Table, "rows"> {
  const { resource, list, metaVersion = "v1", hasHeaders = true } = options;
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: list ?? resourceVersionOf(first),
    columnDefinitions: hasHeaders ? columnDefinitionsOf(resource.columns) : null,
  };
}

function resourceVersionOf(object: KubeObject | undefined): ListMeta {
  const resourceVersion = object?.metadata.resourceVersion;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

export function tableRow<T extends KubeObject>(object: T, options: RowOptions<T>): TableRow {
  const { resource, nowMs } = options;
  const context = { nowMs };
  const conditions = resource.rowConditions?.(object) ?? [];
  return {
    cells: resource.columns.map((column) => column.value(object, context)),
    ...(conditions.length === 0 ? {} : { conditions }),
    object: shownObject(object, options),
  };
}

/** The row of a watch bookmark. Its cells have the zero values of their types: there is no object to print. */
export function bookmarkRow(bookmark: KubeObject, options: RowOptions<KubeObject>): TableRow {
  const columns = options.resource.columns.map((column) => ({ ...column, value: () => zeroOf(column.type) }));
  return tableRow(bookmark, { ...options, resource: { columns } });
}

function zeroOf(type: string): CellValue {
  if (type === "boolean") return false;
  return type === "integer" || type === "number" ? 0 : "";
}

function shownObject<T extends KubeObject>(object: T, options: RowOptions<T>): KubeObject | null {
  const { includeObject = "Metadata", metaVersion = "v1", present } = options;
  if (includeObject === "Object") return present === undefined ? object : present(object);
  const isEndOfInitialEvents = object.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
  return includeObject === "Metadata" || isEndOfInitialEvents ? partialObjectMetadata(object, metaVersion) : null;
}

/** The object reduced to its metadata (PartialObjectMetadata). */
export function partialObjectMetadata({ metadata }: KubeObject, metaVersion: "v1" | "v1beta1" = "v1"): KubeObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${metaVersion}`, metadata };
}

export function columnDefinitionsOf<T extends KubeObject>(columns: readonly Column<T>[]): readonly TableColumnDefinition[] {
  return columns.map(({ name, type, format = "", description, priority }) => ({ name, type, format, description, priority }));
}

/** Parses the query parameter `includeObject`: absent or empty means Metadata. */
export function readIncludeObject(text: string | undefined): IncludeObject | FieldError {
  if (text === undefined || text === "") return "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  return invalid("includeObject", text, "must be 'Metadata', 'Object', 'None', or empty");
}
