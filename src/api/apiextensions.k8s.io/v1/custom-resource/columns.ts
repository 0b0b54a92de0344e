/** Printer columns of custom resources: Name, then the columns of the version, or Age if it has none. */
import type { CustomResourceColumnDefinition } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { nameColumn } from "../../../machinery/columns.ts";
import { humanDuration } from "../../../machinery/duration.ts";
import type { Json, KubeObject } from "../../../machinery/object.ts";
import type { CellValue, Column } from "../../../machinery/resource.ts";
import { compileJsonPath } from "../../../machinery/selectors/json-path-value.ts";
import { parseTime } from "../../../machinery/time.ts";
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";
import { formatScalar } from "./go-value.ts";

const AGE: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  description: "Creation time of the object.",
  jsonPath: ".metadata.creationTimestamp",
};

export function columnsOf(definitions: readonly CustomResourceColumnDefinition[] | undefined): readonly Column[] {
  const columns: Column[] = [];
  for (const definition of definitions === undefined || definitions.length === 0 ? [AGE] : definitions) {
    const column = columnOf(definition);
    // As upstream: a path that cannot be read leaves the name alone.
    if (column === undefined) return [nameColumn];
    columns.push(column);
  }
  return [nameColumn, ...columns];
}

function columnOf(definition: CustomResourceColumnDefinition): Column | undefined {
  const { name, type, format = "", description = "", priority = 0, jsonPath } = definition;
  const path = compileJsonPath(jsonPath);
  if (path === undefined) return undefined;
  return {
    name,
    type: type as Column["type"],
    ...(format === "" ? {} : { format }),
    description: description === "" ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
    value(object: KubeObject, { nowMs }) {
      const [value] = path(object);
      return value === undefined || value === null ? null : cellOf(type, value, nowMs);
    },
  };
}

/** A value of another type than the column's is not shown. */
function cellOf(type: string, value: Json, nowMs: number): CellValue {
  switch (type) {
    case "string":
      return textOf(value);
    case "integer":
      return typeof value === "number" || typeof value === "bigint" ? Math.trunc(Number(value)) : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageCell(value, nowMs) : null;
    default:
      return null;
  }
}

function textOf(value: Json): string {
  return typeof value === "object" ? writeStableJson(value) : formatScalar(value);
}

function ageCell(text: string, nowMs: number): string {
  if (text === "" || text === "null") return "<unknown>";
  const time = parseTime(text);
  return time === undefined ? "<invalid>" : humanDuration(nowMs - time);
}
