/**
 * A fictitious resource, like a custom resource: unknown until it is added. It has what tests of the API machinery need: an indexed field,
 * one that is not, and arbitrary other fields.
 */
import { ageColumn, nameColumn } from "../../api/machinery/columns.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { defineResource, type Resource } from "../../api/machinery/resource.ts";
import type { Field, ObjectSchema, Schema, SchemaSet } from "../../api/machinery/schema.ts";
import { schemaOf, schemas } from "../../api/schemas.ts";

export interface Widget extends KubeObject {
  readonly spec?: { readonly shelf?: string; readonly size?: number };
}

const WIDGET_SCHEMA = "com.example.v1.Widget";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

export const widgetSchema: ObjectSchema = objectSchema({
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: schemaOf(META),
  spec: objectSchema({ shelf: { type: "string" }, size: { type: "integer", format: "int64" } }),
});

function objectSchema(fields: Readonly<Record<string, Schema>>): ObjectSchema {
  const named = Object.entries(fields).map(([name, schema]): [string, Field] => [name, { name, schema, zero: "keep" }]);
  return { type: "object", fields: new Map(named), required: [], preserveUnknownFields: true };
}

export const widgetSchemas: SchemaSet = {
  get: (name) => (name === WIDGET_SCHEMA ? widgetSchema : schemas.get(name)),
  names: () => [WIDGET_SCHEMA],
};

/** A new value each time, since a server identifies a resource by object identity. */
export function widgetResource(): Resource {
  return defineResource<Widget>({
    kind: "Widget",
    plural: "widgets",
    singular: "widget",
    scope: "Namespaced",
    served: [{ group: "example.com", version: "v1", schema: WIDGET_SCHEMA }],
    columns: [nameColumn, ageColumn],
    selectableFields: { "spec.shelf": ({ spec }) => spec?.shelf ?? "", "spec.size": ({ spec }) => String(spec?.size ?? "") },
    indexedFields: ["spec.shelf"],
    // So that a response contains the revision of the deletion.
    returnsDeletedObject: true,
  });
}

export const WIDGETS = { group: "example.com", version: "v1", plural: "widgets" } as const;

export function widget(name: string, { labels, ...spec }: { labels?: Readonly<Record<string, string>> } & JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name, ...(labels === undefined ? {} : { labels }) }, spec };
}
