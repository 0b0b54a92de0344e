/**
 * Reads values that this code did not write: upstream's API server stores protobuf in an envelope, or JSON of another layout for kinds of
 * its extension servers, some in a version that is not served. The result is the object in the storage version, defaulted as upstream
 * defaults what it reads from etcd. Written back, it is JSON, which upstream reads, too.
 */
import { readTypeMeta, type TypeMeta } from "../../api/machinery/codec/body-error.ts";
import { decodeBySchema } from "../../api/machinery/codec/decode.ts";
import { parseJson } from "../../api/machinery/codec/json.ts";
import { decodeEnvelope, decodeProtobuf, isEnvelope } from "../../api/machinery/codec/protobuf/protobuf.ts";
import { apiVersionOf, type Json, type JsonObject, type KubeObject } from "../../api/machinery/object.ts";
import type { Resource, ServedVersion } from "../../api/machinery/resource.ts";
import type { ObjectSchema, SchemaSet } from "../../api/machinery/schema.ts";

/** Throws an error that describes what is wrong with the bytes. */
export type ForeignReader = (bytes: Uint8Array) => KubeObject;

/** Prefix of values that upstream has encrypted at rest. */
const ENCRYPTED = "k8s:enc:";

export function foreignReader(resource: Resource, schemas: SchemaSet): ForeignReader {
  return (bytes) => {
    const read = isEnvelope(bytes) ? openEnvelope(bytes) : openJson(bytes);
    if (read.kind !== resource.kind) throw new Error(`its kind is ${JSON.stringify(read.kind)}, expected ${resource.kind}`);
    const { version, upgrade } = versionOf(resource, read);
    const decoded = read.decode(schemaOf(version, schemas), upgrade);
    const typed = { ...decoded, kind: resource.kind, apiVersion: apiVersionOf(version), metadata: decoded["metadata"] ?? {} };
    const object = typed as KubeObject;
    const defaulted = version.defaults?.(object) ?? object;
    return version.toStorage?.(defaulted) ?? defaulted;
  };
}

type Upgrade = (object: JsonObject) => JsonObject;

interface OpenedValue extends TypeMeta {
  decode(schema: ObjectSchema, upgrade: Upgrade | undefined): JsonObject;
}

function openEnvelope(bytes: Uint8Array): OpenedValue {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  return {
    apiVersion,
    kind,
    decode: (schema, upgrade) => {
      const object = decodeProtobuf(raw, schema);
      return upgrade?.(object) ?? object;
    },
  };
}

function openJson(bytes: Uint8Array): OpenedValue {
  const value = parse(bytes);
  return {
    ...readTypeMeta(value),
    decode: (schema, upgrade) => decodeBySchema(upgrade?.(value as JsonObject) ?? value, schema).object as JsonObject,
  };
}

function parse(bytes: Uint8Array): Json {
  if (new TextDecoder().decode(bytes.subarray(0, ENCRYPTED.length)) === ENCRYPTED) {
    throw new Error("it is encrypted at rest; decrypt it first with the API server that wrote it");
  }
  return parseJson(bytes, { duplicates: false }).value;
}

/** The version whose schema matches, and the conversion to it. */
function versionOf(resource: Resource, { apiVersion }: TypeMeta): { readonly version: ServedVersion; readonly upgrade?: Upgrade } {
  const served = resource.served.find((version) => apiVersionOf(version) === apiVersion);
  if (served !== undefined) return { version: served };
  const { group, version: storageVersion } = resource.storage;
  const older = resource.olderStorage?.find(({ version }) => apiVersionOf({ group, version }) === apiVersion);
  const version = resource.served.find((each) => each.group === group && each.version === storageVersion);
  if (older === undefined || version === undefined) throw new Error(`its version ${JSON.stringify(apiVersion)} is unknown`);
  return { version, ...(older.upgrade === undefined ? {} : { upgrade: older.upgrade }) };
}

function schemaOf({ schema: name }: ServedVersion, schemas: SchemaSet): ObjectSchema {
  const schema = schemas.get(name);
  if (schema?.type !== "object") throw new Error(`schema ${name} does not exist`);
  return schema;
}
