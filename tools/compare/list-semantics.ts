/** Compares list types, map and struct types, and strategic merge patch strategies with the snapshot's table. */
import { readFileSync } from "node:fs";
import type { Field, ObjectSchema } from "../../src/api/machinery/schema.ts";
import { schemas } from "../../src/api/schemas.ts";
import type { Comparison } from "./comparison.ts";
import { readOpenApiSchemas } from "./openapi-snapshot.ts";
import { findSnapshot } from "./snapshot.ts";

export const listSemantics: Comparison = {
  name: "list-semantics",

  async compare(directory) {
    const text = readFileSync(findSnapshot(directory, "list-map-semantics"), "utf8");
    const theirs = rowMap(
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t")),
    );
    // The table has the types in documents; a struct that is only inlined appears in those that inline it.
    const ours = rowMap([...readOpenApiSchemas(directory).keys()].flatMap(ourRows));
    return [...new Set([...ours.keys(), ...theirs.keys()])].sort().flatMap((place) => {
      const [our = "nothing", their = "nothing"] = [ours.get(place), theirs.get(place)];
      return our === their ? [] : [`${place}: ours ${our}, theirs ${their}`];
    });
  },
};

function rowMap(rows: readonly (readonly string[])[]): Map<string, string> {
  return new Map(rows.map(([type, field, semantics = ""]) => [`${type} ${field}`, semantics]));
}

function ourRows(name: string): string[][] {
  const schema = schemas.get(name);
  if (schema?.type !== "object") return [];
  const short = name.split(".").slice(-3).join(".");
  const ofFields = [...schema.fields.values()].map((field) => [short, field.name, fieldText(field)]);
  return [[short, "(type)", typeText(schema)], ...ofFields].filter(([, , text]) => text !== "");
}

function typeText({ atomic }: ObjectSchema): string {
  return atomic ? "mapType=atomic" : "";
}

function fieldText({ schema, atomic, patchMergeKey, patchStrategy }: Field): string {
  const parts: string[] = [];
  if (schema.type === "list" && schema.listType !== "atomic") parts.push(`list=${schema.listType}`);
  if (schema.type === "list" && schema.mapKeys !== undefined) parts.push(`keys=${schema.mapKeys.join(",")}`);
  if (schema.type === "map" && schema.atomic) parts.push("mapType=atomic");
  if (atomic !== undefined) parts.push(`mapType=${atomic ? "atomic" : "granular"}`);
  if (patchMergeKey !== undefined) parts.push(`mergeKey=${patchMergeKey}`);
  if (patchStrategy !== undefined) parts.push(`strategy=${patchStrategy.join(",")}`);
  return parts.join(" ");
}
