/**
 * A made-up kind, as a custom resource will be one: known to nobody before it is added. It has what the machine of the API server
 * must be tried with: a field that is indexed, one that is not, and anything else that is sent.
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

/** A new value each time, since a server knows a resource by its identity. */
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
    // So that an answer tells the revision of the deletion.
    returnsDeletedObject: true,
  });
}

export const WIDGETS = { group: "example.com", version: "v1", plural: "widgets" } as const;

export function widget(name: string, { labels, ...spec }: { labels?: Readonly<Record<string, string>> } & JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name, ...(labels === undefined ? {} : { labels }) }, spec };
}
