/**
 * Kind, apiVersion and metadata of a custom resource and of embedded resources (x-kubernetes-embedded-resource): metadata is that of every
 * object, whatever the schema says, so it is decoded and validated as such. Its unknown fields are dropped.
 */
import { DecodeError } from "../../../machinery/codec/decode-error.ts";
import { decodeBySchema } from "../../../machinery/codec/decode.ts";
import { child, element, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateObjectMeta } from "../../../machinery/metadata-validation.ts";
import { validateDns1035Label, validatePathSegmentName } from "../../../machinery/names.ts";
import { isObject, type Json, type JsonObject, type ObjectMeta } from "../../../machinery/object.ts";
import { schemaOf } from "../../../schemas.ts";
import { changedList, changedMembers } from "./changed-value.ts";
import { itemsOf, type JsonSchema, memberOf, otherPropertiesOf, propertyOf } from "./json-schema.ts";
import { invalidValue } from "./shown-value.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** Members of resources have the wrong types. */
export class MetadataError extends Error {
  override readonly name = "MetadataError";
  readonly error: FieldError;

  constructor(error: FieldError) {
    super(error.body);
    this.error = error;
  }
}

/** The schema of a resource counts as one of an embedded resource, also where it does not say so. */
export function asResource(schema: JsonSchema): JsonSchema {
  return schema["x-kubernetes-embedded-resource"] === true ? schema : { ...schema, "x-kubernetes-embedded-resource": true };
}

/** The value with canonical metadata in all its resources. `onUnknown` gets the path of each dropped field. Throws MetadataError. */
export function coerceMetadata(value: Json, schema: JsonSchema | undefined, at = "", onUnknown?: (path: string) => void): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value))
    return changedList(value, (item, index) => coerceMetadata(item, itemsOf(schema), element(at, index), onUnknown));
  if (!isObject(value)) return value;
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  return changedMembers(value, (member, name) => {
    if (isResource && (name === "apiVersion" || name === "kind") && typeof member !== "string") {
      throw new MetadataError(invalidValue(child(at, name), member, "must be a string"));
    }
    if (isResource && name === "metadata") return coerceObjectMeta(member, child(at, name), onUnknown);
    const property = propertyOf(schema, name);
    if (property !== undefined) return coerceMetadata(member, property, child(at, name), onUnknown);
    return coerceMetadata(member, otherPropertiesOf(schema), element(at, name), onUnknown);
  });
}

function coerceObjectMeta(value: Json, at: string, onUnknown: ((path: string) => void) | undefined): Json {
  try {
    return decodeMeta(value, (path) => onUnknown?.(child(at, path)));
  } catch (error) {
    if (error instanceof DecodeError) throw new MetadataError(invalidValue(at, value, error.message));
    throw error;
  }
}

function decodeMeta(value: Json, onUnknown: (path: string) => void): JsonObject {
  const schema = schemaOf(OBJECT_META);
  const { object, unknownFields } = decodeBySchema(value ?? {}, schema);
  for (const path of unknownFields) onUnknown(path);
  return changedMembers(object as JsonObject, (member, name) => (name === "creationTimestamp" && member === null ? undefined : member));
}

/** Errors in the members of the (coerced) resources of a value. */
export function* validateMetadata(value: Json, schema: JsonSchema | undefined, at = ""): Iterable<FieldError> {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) yield* validateMetadata(item, itemsOf(schema), element(at, index));
  }
  if (!isObject(value)) return;
  if (schema["x-kubernetes-embedded-resource"] === true) yield* validateResource(value, at);
  for (const [name, member = null] of Object.entries(value)) {
    const property = propertyOf(schema, name);
    if (property !== undefined) yield* validateMetadata(member, property, child(at, name));
    else yield* validateMetadata(member, otherPropertiesOf(schema), element(at, name));
  }
}

function* validateResource(object: JsonObject, at: string): Iterable<FieldError> {
  const apiVersion = memberOf(object, "apiVersion");
  const kind = memberOf(object, "kind");
  const metadata = memberOf(object, "metadata");
  if (apiVersion === undefined) yield required(child(at, "apiVersion"));
  if (kind === undefined) yield required(child(at, "kind"));
  if (apiVersion !== undefined) yield* validateApiVersion(apiVersion, child(at, "apiVersion"));
  if (kind !== undefined) yield* validateKind(kind, child(at, "kind"));
  if (metadata === undefined) return;
  const meta = metadata as ObjectMeta;
  // Embedded resources need no name.
  const named: ObjectMeta = (meta.name ?? "") === "" ? { ...meta, name: "fakename" } : meta;
  const namespaced = (meta.namespace ?? "") !== "";
  yield* errorsOf((errors) =>
    validateObjectMeta(errors, named, { namespaced, validateName: validatePathSegmentName, at: child(at, "metadata") }),
  );
}

function* validateApiVersion(value: Json, at: string): Iterable<FieldError> {
  if (typeof value !== "string") yield invalid(at, value, "must be a string");
  else if (value === "") yield invalid(at, value, "must not be empty");
  else if (value.split("/").length > 2) yield invalid(at, value, `unexpected GroupVersion string: ${value}`);
}

function* validateKind(value: Json, at: string): Iterable<FieldError> {
  if (typeof value !== "string") yield invalid(at, value, "must be a string");
  else if (value === "") yield invalid(at, value, "must not be empty");
  else {
    const wrong = validateDns1035Label(value.toLowerCase());
    if (wrong.length > 0) yield invalid(at, value, `may have mixed case, but should otherwise match: ${wrong.join(",")}`);
  }
}
