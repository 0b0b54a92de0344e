/** The schemas of all the snapshots' OpenAPI v3 documents, merged. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GroupVersionKind } from "../../src/api/machinery/object.ts";
import { findSnapshot } from "./snapshot.ts";

export interface OpenApiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly allOf?: readonly OpenApiSchema[];
  readonly $ref?: string;
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-unions"?: readonly unknown[];
}

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> };
}

/** A type in several documents is equal in all but its kinds, which are merged. */
export function readOpenApiSchemas(directory: string): Map<string, OpenApiSchema> {
  const folder = findSnapshot(directory, "openapi-v3");
  const schemas = new Map<string, OpenApiSchema>();
  for (const file of readdirSync(folder).sort()) {
    const document = JSON.parse(readFileSync(join(folder, file), "utf8")) as Document;
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      const kinds = [
        ...(schemas.get(name)?.["x-kubernetes-group-version-kind"] ?? []),
        ...(schema["x-kubernetes-group-version-kind"] ?? []),
      ];
      schemas.set(name, kinds.length === 0 ? schema : { ...schema, "x-kubernetes-group-version-kind": kinds });
    }
  }
  return schemas;
}
