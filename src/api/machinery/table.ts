/**
 * Objects as a table (meta.k8s.io Table): what `kubectl get` prints, made by the server so that every client shows the same columns.
 * A row carries the object's metadata by default, the whole object or nothing if the client says so (`includeObject`).
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
  /** Null in a watch after its first event: the client has them. */
  readonly columnDefinitions: readonly TableColumnDefinition[] | null;
  readonly rows: readonly TableRow[];
};

export interface RowOptions<T extends KubeObject> {
  readonly resource: Pick<Resource<T>, "columns" | "rowConditions">;
  readonly nowMs: number;
  /** Default: Metadata. */
  readonly includeObject?: IncludeObject;
  /** Of meta.k8s.io, as the client asked for it. Default: v1. */
  readonly metaVersion?: "v1" | "v1beta1";
  /** How a whole object is shown, in the version that the client asked for. Default: as it is. */
  readonly present?: (object: T) => KubeObject;
}

export interface TableOptions<T extends KubeObject> extends RowOptions<T> {
  /** Of a list. One object alone has its own resourceVersion there. */
  readonly list?: ListMeta;
  /** Default: true. */
  readonly hasHeaders?: boolean;
}

/** On the bookmark that ends the first events of a watch; it is shown whatever the client wants to see of objects. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export function tableOf<T extends KubeObject>(objects: readonly T[], options: TableOptions<T>): Table {
  return { ...tableHead(objects[0], options), rows: objects.map((object) => tableRow(object, options)) };
}

/** All but the rows, for whoever writes those one by one. */
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

function shownObject<T extends KubeObject>(object: T, options: RowOptions<T>): KubeObject | null {
  const { includeObject = "Metadata", metaVersion = "v1", present } = options;
  if (includeObject === "Object") return present === undefined ? object : present(object);
  const isEndOfInitialEvents = object.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
  return includeObject === "Metadata" || isEndOfInitialEvents ? partialObjectMetadata(object, metaVersion) : null;
}

/** An object without everything that is its kind's own. */
export function partialObjectMetadata({ metadata }: KubeObject, metaVersion: "v1" | "v1beta1" = "v1"): KubeObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${metaVersion}`, metadata };
}

export function columnDefinitionsOf<T extends KubeObject>(columns: readonly Column<T>[]): readonly TableColumnDefinition[] {
  return columns.map(({ name, type, format = "", description, priority }) => ({ name, type, format, description, priority }));
}

/** The query parameter `includeObject`: absent or empty means Metadata. */
export function readIncludeObject(text: string | undefined): IncludeObject | FieldError {
  if (text === undefined || text === "") return "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  return invalid("includeObject", text, "must be 'Metadata', 'Object', 'None', or empty");
}
