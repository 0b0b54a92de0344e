/**
 * A made-up kind with every sort of ownable field, builders for it, and random ones. The real types are out of reach here: machinery knows
 * no kind.
 */
import fc from "fast-check";
import type { Json, JsonObject } from "../../object.ts";
import type { Field, ListSchema, MapSchema, ObjectSchema, ScalarSchema, Schema } from "../../schema.ts";
import { applyConfiguration, type Applied, type ApplyOptions } from "../apply.ts";
import { ManagedFields, trackUpdate, type TrackUpdateOptions } from "../managed-fields.ts";

export const text: ScalarSchema = { type: "string" };
export const integer: ScalarSchema = { type: "integer" };

type FieldSpec = Schema | Omit<Field, "name">;

/** Fields given as a schema alone are written if set. */
export function struct(fields: Readonly<Record<string, FieldSpec>>, more: Partial<ObjectSchema> = {}): ObjectSchema {
  const entries = Object.entries(fields).map(([name, spec]): [string, Field] => {
    return [name, "schema" in spec ? { ...spec, name } : { name, schema: spec, zero: "omit" }];
  });
  return { type: "object", fields: new Map(entries), required: [], ...more };
}

export function map(values: Schema, more: Partial<MapSchema> = {}): MapSchema {
  return { type: "map", values, ...more };
}

export function list(items: Schema, listType: ListSchema["listType"], ...mapKeys: readonly string[]): ListSchema {
  return { type: "list", items, listType, ...(mapKeys.length === 0 ? {} : { mapKeys }) };
}

const metadata = struct({
  name: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  labels: map(text),
  annotations: map(text),
  finalizers: list(text, "set"),
});

const part = struct({
  name: { schema: text, zero: "write" },
  image: text,
  tags: list(text, "set"),
  limits: struct({ cpu: text, memory: text }),
});
const port = struct({ port: integer, protocol: { schema: text, zero: "omit", default: "TCP" }, name: text });

const spec = struct(
  {
    replicas: integer,
    size: { schema: { type: "string", format: "int-or-string" }, zero: "keep" },
    parts: { schema: list(part, "map", "name"), zero: "write" },
    ports: list(port, "map", "port", "protocol"),
    tags: list(text, "set"),
    args: list(text, "atomic"),
    data: map(text),
    selector: map(text, { atomic: true }),
    groups: map(struct({ value: text })),
    target: struct({ kind: text, name: text }, { atomic: true }),
    nested: struct({ a: text, b: struct({ c: text }) }),
    free: { type: "any", format: "json" },
    raw: { type: "any", format: "raw-extension" },
    // A type that is atomic, except here.
    open: { schema: struct({ x: text, y: text }, { atomic: true }), zero: "omit", atomic: false },
  },
  { protobuf: [] },
);

export const widget = struct(
  {
    apiVersion: text,
    kind: text,
    metadata: { schema: metadata, zero: "write" },
    spec: { schema: spec, zero: "write" },
    status: { schema: struct({ phase: text, conditions: list(struct({ type: text, status: text }), "map", "type") }), zero: "write" },
  },
  { protobuf: [], groupVersionKinds: [{ group: "test", version: "v1", kind: "Widget" }] },
);

export const API_VERSION = "test/v1";
export const TIME = "2026-01-02T03:04:05Z";
export const LATER = "2026-01-02T03:04:06Z";

export function aWidget(spec: JsonObject = {}, more: { readonly metadata?: JsonObject; readonly status?: JsonObject } = {}): JsonObject {
  return { apiVersion: API_VERSION, kind: "Widget", metadata: { name: "w", ...more.metadata }, spec, status: more.status ?? {} };
}

/** An apply body: without the fields that the client does not set. */
export function wanted(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: API_VERSION, kind: "Widget", metadata: { name: "w", ...metadata }, spec };
}

export function track(
  manager: string,
  next: JsonObject,
  options: Partial<TrackUpdateOptions> & { readonly time?: string } = {},
): ManagedFields {
  const { time = TIME, ...rest } = options;
  const writer = { manager, apiVersion: API_VERSION, time };
  return trackUpdate({
    schema: widget,
    previous: undefined,
    previousManaged: ManagedFields.none,
    next,
    writer,
    ignore: [["status"]],
    ...rest,
  });
}

export interface State {
  readonly object: JsonObject | undefined;
  readonly managed: ManagedFields;
}

export const nothing: State = { object: undefined, managed: ManagedFields.none };

export function apply({ object, managed }: State, manager: string, applied: JsonObject, options: Partial<ApplyOptions> = {}): Applied {
  const writer = { manager, apiVersion: API_VERSION, time: TIME };
  return applyConfiguration({
    schema: widget,
    live: object,
    liveManaged: managed,
    applied,
    force: false,
    writer,
    ignore: [["status"]],
    ...options,
  });
}

export function update({ object, managed }: State, manager: string, next: JsonObject): State {
  return { object: next, managed: track(manager, next, { previous: object, previousManaged: managed }) };
}

/** The fields of each owner, by operation and manager: "Apply m1". */
export function ownership(managed: ManagedFields): Readonly<Record<string, string>> {
  return Object.fromEntries(managed.owners().map(({ operation, manager, fields }) => [`${operation} ${manager}`, fields.text()]));
}

const word = fc.constantFrom("a", "b", "c");
const words = fc.dictionary(word, word, { maxKeys: 3 });
const wordSet = fc.uniqueArray(word, { maxLength: 3 });

function record(members: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [] });
}

/** A random spec, with few values so that managers collide. */
export const specs: fc.Arbitrary<JsonObject> = record({
  replicas: fc.integer({ min: 0, max: 2 }),
  parts: fc.uniqueArray(
    fc.record({ name: word, image: word, tags: wordSet, limits: record({ cpu: word, memory: word }) }, { requiredKeys: ["name"] }),
    { maxLength: 3, selector: ({ name }) => name },
  ),
  ports: fc.uniqueArray(fc.record({ port: fc.constantFrom(80, 443), protocol: fc.constantFrom("TCP", "UDP"), name: word }), {
    maxLength: 3,
    selector: ({ port, protocol }) => `${port}/${protocol}`,
  }),
  tags: wordSet,
  args: fc.array(word, { maxLength: 3 }),
  data: words,
  selector: words,
  groups: fc.dictionary(word, record({ value: word }), { maxKeys: 2 }),
  target: record({ kind: word, name: word }),
  nested: record({ a: word, b: record({ c: word }) }),
  free: fc.constantFrom<Json>({ k: "1" }, { k: { z: "1" } }, { k: ["1"] }, "text", {}),
  open: record({ x: word, y: word }),
});
