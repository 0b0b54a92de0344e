/**
 * The expected output of `kubectl explain --recursive` for a kind, derived from its schema: every field sorted by name, with the fields of
 * its type indented below it. A recursive type (JSONSchemaProps) is expanded only once. Not here: types and enums, which are those of the
 * OpenAPI documents.
 */
import type { Schema } from "../../src/api/machinery/schema.ts";
import { schemaOf } from "../../src/api/schemas.ts";

const REQUIRED = " -required-";

/** One line for each field: its name, indented, and whether it is required. */
export function fieldsOf(schema: string): readonly string[] {
  return linesOf(schemaOf(schema), 1, []);
}

/** The lines of kubectl's output that name fields, in the form of `fieldsOf`. */
export function explainedFields(printed: string): readonly string[] {
  const [, fields = ""] = printed.split("\nFIELDS:\n");
  return fields
    .split("\n")
    .filter((line) => line.includes("\t<"))
    .map((line) => line.slice(0, line.indexOf("\t")) + (line.endsWith(REQUIRED) ? REQUIRED : ""));
}

function linesOf(schema: Schema, depth: number, above: readonly Schema[]): readonly string[] {
  if (schema.type === "list") return linesOf(schema.items, depth, above);
  if (schema.type === "map") return linesOf(schema.values, depth, above);
  if (schema.type !== "object" || above.includes(schema)) return [];
  return [...schema.fields.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, schema: inner }) => [
      "  ".repeat(depth) + name + (schema.required.includes(name) ? REQUIRED : ""),
      ...linesOf(inner, depth + 1, [...above, schema]),
    ]);
}
