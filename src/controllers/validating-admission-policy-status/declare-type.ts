/**
 * The types of objects for checking expressions, from OpenAPI v3 documents, in which built-in kinds, custom resources and kinds of
 * aggregated servers look alike. Fields are declared when they are first read: types refer to each other, and to themselves.
 */
import { declared, declareList, declareMap, declareObject, declareSimple, type Declaration } from "../../cel/types/declaration.ts";
import { escapeName } from "../../cel/schema/escaping.ts";
import { isObject, type JsonObject } from "../../api/machinery/object.ts";

/** `components.schemas` of a document. */
export type Components = JsonObject;

const REFERENCE = "#/components/schemas/";
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/** undefined: the documents have no such kind. */
export function declareKind(
  components: Components,
  { group, version, kind }: { group: string; version: string; kind: string },
): Declaration | undefined {
  for (const schema of Object.values(components)) {
    if (!isObject(schema)) continue;
    const kinds = schema["x-kubernetes-group-version-kind"];
    const isWanted = (one: unknown) => isObject(one) && one["group"] === group && one["version"] === version && one["kind"] === kind;
    if (Array.isArray(kinds) && kinds.some(isWanted)) return declare(schema, kind, components);
  }
  return undefined;
}

function declare(schema: JsonObject, name: string, components: Components): Declaration {
  const reference = referenceOf(schema);
  if (reference === QUANTITY) return declared.string;
  if (reference !== undefined) {
    const target = components[reference];
    return isObject(target) ? declare(target, reference, components) : declared.dyn;
  }
  if (schema["x-kubernetes-int-or-string"] === true || schema["format"] === "int-or-string") return declared.dyn;
  switch (schema["type"]) {
    case "array":
      return declareList(isObject(schema["items"]) ? declare(schema["items"], `${name}.@idx`, components) : declared.dyn);
    case "object":
      return declareMembers(schema, name, components);
    case "string":
      return declareText(schema);
    case "boolean":
      return declared.bool;
    case "integer":
      return declared.int;
    case "number":
      return declared.double;
    default:
      return declared.dyn;
  }
}

/** A reference is alone, or beside a default. */
function referenceOf({ $ref, allOf }: JsonObject): string | undefined {
  const only = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) ? allOf[0]["$ref"] : undefined;
  const reference = $ref ?? only;
  return typeof reference === "string" ? reference.slice(REFERENCE.length) : undefined;
}

function declareText({ format }: JsonObject): Declaration {
  switch (format) {
    case "byte":
      return declared.bytes;
    case "date":
    case "date-time":
      return declared.timestamp;
    case "duration":
      return declared.duration;
    default:
      return declareSimple(declared.string.type, declared.string.minSerializedSize);
  }
}

function declareMembers(schema: JsonObject, name: string, components: Components): Declaration {
  const { properties, additionalProperties } = schema;
  if (isObject(additionalProperties)) return declareMap(declared.string, declare(additionalProperties, `${name}.@elem`, components));
  if (!isObject(properties)) return schema["x-kubernetes-preserve-unknown-fields"] === true ? declared.dyn : declareObject(name, {});
  return declareObject(
    name,
    () =>
      new Map(
        Object.entries(properties).flatMap(([property, member]) => {
          const escaped = escapeName(property);
          return escaped === undefined || !isObject(member) ? [] : [[escaped, declare(member, `${name}.${escaped}`, components)] as const];
        }),
      ),
  );
}
