/**
 * OpenAPI definitions of types that bring their own schema (custom resources): the schema, with kind, apiVersion and metadata as every
 * object has them. Version 2 can express less, so it publishes less, by upstream's rules: clients would otherwise refuse valid objects.
 */
import { isObject, type GroupVersionKind, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { PublishedType } from "../../../api/machinery/resource.ts";
import type { DefinitionTarget, OwnType } from "./own-type.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const KINDS = "x-kubernetes-group-version-kind";
const PRESERVES = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING_FORMS: Json = [{ type: "integer" }, { type: "string" }];

const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
/** Upstream's descriptions, which `kubectl explain` shows for every kind. */
const OBJECT_METADATA = `Standard object's metadata. More info: ${CONVENTIONS}#metadata`;
const LIST_METADATA = `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`;

export function objectType(kind: GroupVersionKind, published: PublishedType): OwnType {
  return {
    references: [`${META}.ObjectMeta`],
    define: (target) => ({ ...objectDefinition(published, target), ...extensionsOf(kind, published) }),
  };
}

/** The list of such a type. */
export function listType(kind: GroupVersionKind & { readonly plural: string }, item: string, published: PublishedType): OwnType {
  const { plural, group, version, kind: listKind } = kind;
  const of = item.slice(item.lastIndexOf(".") + 1);
  const more = `More info: ${CONVENTIONS}`;
  return {
    references: [item, `${META}.ListMeta`],
    define: (target) => ({
      description: `${listKind} is a list of ${of}`,
      type: "object",
      required: ["items"],
      properties: {
        ...typeMeta(target),
        items: { description: `List of ${plural}. ${more}`, type: "array", items: target.reference(item) },
        metadata: described(target, LIST_METADATA, `${META}.ListMeta`),
      },
      ...extensionsOf({ group, version, kind: listKind }, published),
    }),
  };
}

function extensionsOf({ group, version, kind }: GroupVersionKind, { selectableFields }: PublishedType): JsonObject {
  const fields = selectableFields.map((fieldPath) => ({ fieldPath }));
  return { [KINDS]: [{ group, kind, version }], ...(fields.length === 0 ? {} : { "x-kubernetes-selectable-fields": fields }) };
}

function objectDefinition({ schema, preservesUnknown }: PublishedType, target: DefinitionTarget): JsonObject {
  const isOpen = preservesUnknown || schema?.[PRESERVES] === true;
  // With properties, kubectl would take all others for mistakes.
  if (schema === undefined || (target.dialect === "v2" && isOpen)) return { type: "object" };
  const own = publishNode(schema, target);
  return { ...own, properties: { ...(own["properties"] as JsonObject | undefined), ...resourceProperties(target) } };
}

function resourceProperties(target: DefinitionTarget): JsonObject {
  return { ...typeMeta(target), metadata: objectMeta(target) };
}

function typeMeta({ descriptions }: DefinitionTarget): JsonObject {
  const textOf = (field: string) => ({ description: descriptions.ofField("", field), type: "string" });
  return { apiVersion: textOf("apiVersion"), kind: textOf("kind") };
}

function objectMeta(target: DefinitionTarget): JsonObject {
  return described(target, OBJECT_METADATA, `${META}.ObjectMeta`);
}

function described({ dialect, reference }: DefinitionTarget, description: string, name: string): JsonObject {
  const beside = description === "" ? {} : { description };
  return dialect === "v2" ? { ...beside, ...reference(name) } : { ...beside, allOf: [reference(name)] };
}

/** One schema with everything below it. */
function publishNode(schema: JsonObject, target: DefinitionTarget): JsonObject {
  const node = target.dialect === "v2" ? lossy(schema) : unfolded(schema);
  const { items, properties, additionalProperties } = node;
  const published: JsonObject = {
    ...node,
    ...(isObject(items) ? { items: publishNode(items, target) } : {}),
    ...(isObject(properties) ? { properties: publishMembers(properties, target) } : {}),
    ...(isObject(additionalProperties) ? { additionalProperties: publishNode(additionalProperties, target) } : {}),
  };
  const isEmbedded = node["x-kubernetes-embedded-resource"] === true && !(target.dialect === "v2" && node[PRESERVES] === true);
  return isEmbedded ? withResourceMembers(published, target) : published;
}

function publishMembers(properties: JsonObject, target: DefinitionTarget): JsonObject {
  return Object.fromEntries(
    Object.entries(properties)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, property]) => [name, isObject(property) ? publishNode(property, target) : property]),
  );
}

function withResourceMembers(node: JsonObject, target: DefinitionTarget): JsonObject {
  const required = (node["required"] ?? []) as readonly string[];
  const missing = ["kind", "apiVersion"].filter((name) => !required.includes(name));
  const properties = { ...(node["properties"] as JsonObject | undefined), ...resourceProperties(target) };
  return { ...node, properties, required: [...required, ...missing] };
}

/** A value that is an integer or a string says so in a form that clients without the extension understand. */
function unfolded(schema: JsonObject): JsonObject {
  if (schema["x-kubernetes-int-or-string"] !== true) return schema;
  const { anyOf, allOf = [] } = schema;
  if (anyOf === undefined) return { ...schema, anyOf: INT_OR_STRING_FORMS };
  const [first] = allOf as readonly Json[];
  const isUnfolded = isForms(anyOf) || (isObject(first) && isForms(first["anyOf"]));
  return isUnfolded ? schema : { ...schema, allOf: [{ anyOf: INT_OR_STRING_FORMS }, ...(allOf as readonly Json[])] };
}

function isForms(anyOf: Json | undefined): boolean {
  return JSON.stringify(anyOf) === JSON.stringify(INT_OR_STRING_FORMS);
}

/** OpenAPI v2 has no alternatives, no defaults here, and no nullable; kubectl refuses unknown fields beside properties. */
function lossy(schema: JsonObject): JsonObject {
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, default: _default, nullable, ...rest } = schema;
  const node: Record<string, Json | undefined> = { ...rest };
  const preserves = schema[PRESERVES] === true;
  if (nullable === true) delete node["type"];
  if (nullable === true || preserves) {
    delete node["items"];
    delete node["properties"];
  }
  if (node["type"] === "array" && node["items"] === undefined) delete node["type"];
  if (preserves && node["type"] === "object") delete node["type"];
  const required = requiredOf(node);
  if (required.length === 0) delete node["required"];
  else node["required"] = required;
  return node;
}

/** A nullable property may be absent where null cannot be expressed. */
function requiredOf({ required = [], properties, additionalProperties }: Readonly<Record<string, Json | undefined>>): readonly Json[] {
  if (isObject(additionalProperties) && additionalProperties["nullable"] === true) return [];
  const names = required as readonly string[];
  if (!isObject(properties)) return names;
  return names.filter((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return !isObject(property) || property["nullable"] !== true;
  });
}
