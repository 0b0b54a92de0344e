/**
 * Small hand-written schemas with every form of the real ones. They resemble core's types, with protobuf numbers of their own. Real schemas
 * are generated, in api/, which machinery does not import.
 */
import type { ChoiceSchema, Field, ListSchema, MapSchema, ObjectSchema, ProtobufField, ScalarSchema, Schema } from "../../schema.ts";

export const STRING: ScalarSchema = { type: "string" };
export const BOOLEAN: ScalarSchema = { type: "boolean" };
export const INT32: ScalarSchema = { type: "integer", format: "int32" };
export const INT64: ScalarSchema = { type: "integer", format: "int64" };
export const DOUBLE: ScalarSchema = { type: "number", format: "double" };
export const BYTES: ScalarSchema = { type: "string", format: "byte" };
export const TIME: ScalarSchema = { type: "string", format: "date-time" };
export const MICRO_TIME: ScalarSchema = { type: "string", format: "micro-time" };
export const DURATION: ScalarSchema = { type: "string", format: "duration" };
export const QUANTITY: ScalarSchema = { type: "string", format: "quantity" };
export const INT_OR_STRING: ScalarSchema = { type: "string", format: "int-or-string" };

export const listOf = (items: Schema): ListSchema => ({ type: "list", items, listType: "atomic" });
export const mapOf = (values: Schema): MapSchema => ({ type: "map", values });

type Fields = Readonly<Record<string, readonly [Schema, Field["zero"]]>>;

interface Shape {
  readonly name: string;
  readonly fields: Fields;
  /** In protobuf they are messages of their own. */
  readonly inlined?: readonly ObjectSchema[];
  readonly preserveUnknownFields?: true;
}

/** Fields are numbered from 1 in their order, inlined ones after them. `apiVersion` and `kind` are in the envelope. */
export function objectSchema({ name, fields, inlined = [], preserveUnknownFields }: Shape): ObjectSchema {
  const own = Object.entries(fields).map(([field, [schema, zero]]): [string, Field] => [field, { name: field, schema, zero }]);
  const numbered = own.map(([field]) => field).filter((field) => field !== "apiVersion" && field !== "kind");
  const protobuf: ProtobufField[] = numbered.map((field, index) => ({ number: index + 1, field }));
  for (const part of inlined) protobuf.push({ number: protobuf.length + 1, inlined: part });
  return {
    type: "object",
    name,
    fields: new Map([...own, ...inlined.flatMap((part) => [...part.fields])]),
    required: [],
    protobuf,
    ...(preserveUnknownFields === undefined ? {} : { preserveUnknownFields }),
  };
}

/** An object of the type, which is field 2 of the message, or an `other` value, which is field 1. */
function choiceOf(object: ObjectSchema, other: Schema): ChoiceSchema {
  const fields: Fields = { other: [other, other.type === "boolean" ? "write" : "keep"], object: [object, "keep"] };
  return { type: "any", format: "choice", message: objectSchema({ name: "Choice", fields }), objectField: "object", otherField: "other" };
}

const META = objectSchema({
  name: "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
  fields: {
    name: [STRING, "omit"],
    namespace: [STRING, "omit"],
    generation: [INT64, "omit"],
    creationTimestamp: [TIME, "omit"],
    deletionTimestamp: [TIME, "keep"],
    labels: [mapOf(STRING), "omit"],
    finalizers: [listOf(STRING), "omit"],
  },
});

const HTTP_GET = objectSchema({
  name: "io.k8s.api.core.v1.HTTPGetAction",
  fields: { path: [STRING, "omit"], port: [INT_OR_STRING, "write"] },
});
const PROBE_HANDLER = objectSchema({ name: "io.k8s.api.core.v1.ProbeHandler", fields: { httpGet: [HTTP_GET, "keep"] } });
const PROBE = objectSchema({
  name: "io.k8s.api.core.v1.Probe",
  fields: { periodSeconds: [INT32, "omit"], graceSeconds: [INT64, "keep"] },
  inlined: [PROBE_HANDLER],
});

const RESOURCES = objectSchema({
  name: "io.k8s.api.core.v1.ResourceRequirements",
  fields: { limits: [mapOf(QUANTITY), "omit"], requests: [mapOf(QUANTITY), "omit"], divisor: [QUANTITY, "keep"] },
});
const PORT = objectSchema({
  name: "io.k8s.api.core.v1.ContainerPort",
  fields: { name: [STRING, "omit"], containerPort: [INT32, "write"], protocol: [STRING, "omit"] },
});
const ENV_VAR = objectSchema({ name: "io.k8s.api.core.v1.EnvVar", fields: { name: [STRING, "write"], value: [STRING, "omit"] } });

const CONTAINER = objectSchema({
  name: "io.k8s.api.core.v1.Container",
  fields: {
    name: [STRING, "write"],
    image: [STRING, "omit"],
    command: [listOf(STRING), "omit"],
    args: [listOf(STRING), "omit"],
    ports: [listOf(PORT), "omit"],
    env: [listOf(ENV_VAR), "omit"],
    resources: [RESOURCES, "write"],
    livenessProbe: [PROBE, "keep"],
    stdin: [BOOLEAN, "omit"],
  },
});

const SPEC = objectSchema({
  name: "io.k8s.api.core.v1.PodSpec",
  fields: {
    containers: [listOf(CONTAINER), "keep"],
    nodeSelector: [mapOf(STRING), "omit"],
    priority: [INT32, "keep"],
    hostNetwork: [BOOLEAN, "omit"],
    graceSeconds: [INT64, "keep"],
    supplementalGroups: [listOf(INT64), "omit"],
    timeout: [DURATION, "keep"],
  },
});

const STATUS = objectSchema({
  name: "io.k8s.api.core.v1.PodStatus",
  fields: { phase: [STRING, "omit"], renewTime: [MICRO_TIME, "keep"], load: [DOUBLE, "omit"] },
});

const ANYTHING_KEPT = objectSchema({
  name: "io.k8s.api.core.v1.Kept",
  fields: { known: [STRING, "omit"] },
  preserveUnknownFields: true,
});

/** A small Pod, with a few fields that no Pod has, so that every form occurs. */
export const POD: ObjectSchema = {
  ...objectSchema({
    name: "io.k8s.api.core.v1.Pod",
    fields: {
      apiVersion: [STRING, "omit"],
      kind: [STRING, "omit"],
      metadata: [META, "write"],
      spec: [SPEC, "write"],
      status: [STATUS, "write"],
      data: [mapOf(BYTES), "omit"],
      extension: [{ type: "any", format: "raw-extension" }, "keep"],
      fieldsV1: [{ type: "any", format: "fields-v1" }, "keep"],
      extra: [mapOf({ ...listOf(STRING), wrappedInProtobuf: true }), "omit"],
      ratios: [listOf(DOUBLE), "omit"],
    },
  }),
  groupVersionKinds: [{ group: "", version: "v1", kind: "Pod" }],
};

/** As a custom resource's: unknown fields of `kept` are no mistakes. */
export const KEEPING: ObjectSchema = objectSchema({ name: "com.example.v1.Keeping", fields: { kept: [ANYTHING_KEPT, "keep"] } });

const PROPS = objectSchema({ name: "io.k8s.api.core.v1.Props", fields: { type: [STRING, "omit"], nullable: [BOOLEAN, "omit"] } });

/** As JSON schemas have them: every kind of union. */
export const CHOOSING: ObjectSchema = objectSchema({
  name: "io.k8s.api.core.v1.Choosing",
  fields: {
    items: [choiceOf(PROPS, listOf(PROPS)), "keep"],
    additional: [choiceOf(PROPS, BOOLEAN), "keep"],
    dependencies: [mapOf(choiceOf(PROPS, listOf(STRING))), "omit"],
    enum: [listOf({ type: "any", format: "json" }), "omit"],
    foo: [STRING, "omit"],
  },
});
