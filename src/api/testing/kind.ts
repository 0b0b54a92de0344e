/**
 * Runs an object through the kind's own part of a create or an update: decoding, defaults, conversion, write strategy, validation. For the
 * tables of the kinds' tests.
 */
import { PAUSE } from "../machinery/validation-errors.ts";
import { decodeBySchema } from "../machinery/codec/decode.ts";
import { describeFieldError, type FieldError } from "../machinery/field-error.ts";
import { apiVersionOf, type JsonObject, type KubeObject } from "../machinery/object.ts";
import type { CellValue, Resource, ServedVersion, WriteContext } from "../machinery/resource.ts";
import { schemaOf } from "../schemas.ts";

/** The body that a client sends; name, namespace, kind and apiVersion are filled in. */
export type Sent = JsonObject & { readonly metadata?: JsonObject };

/** User and time of the writes in these tests. */
export const testWrite: WriteContext = { user: { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] }, nowMs: 0 };

/** Prepares a new object for validation, in the storage version. */
export function newObject<T extends KubeObject>(resource: Resource<T>, sent: Sent, apiVersion?: string): T {
  const stored = received(resource, sent, apiVersion);
  return resource.prepareForCreate?.(stored, testWrite) ?? stored;
}

export function problemsOfNew<T extends KubeObject>(resource: Resource<T>, sent: Sent, apiVersion?: string): readonly string[] {
  return problems(resource.validate?.(newObject(resource, sent, apiVersion)) ?? [], resource.kind);
}

/** Prepares an update, by the object's own path or by that of a subresource. */
export function changedObject<T extends KubeObject>(resource: Resource<T>, previous: T, sent: Sent, subresource?: string): T {
  const next = received(resource, sent);
  if (subresource === undefined) return resource.prepareForUpdate?.(next, previous, testWrite) ?? next;
  return objectSubresource(resource, subresource).prepareForUpdate(next, previous, testWrite);
}

export function problemsOfChange<T extends KubeObject>(
  resource: Resource<T>,
  previous: T,
  sent: Sent,
  subresource?: string,
): readonly string[] {
  const next = changedObject(resource, previous, sent, subresource);
  if (subresource !== undefined)
    return problems(objectSubresource(resource, subresource).validateUpdate?.(next, previous) ?? [], resource.kind);
  return problems([...(resource.validate?.(next, previous) ?? []), ...(resource.validateUpdate?.(next, previous) ?? [])], resource.kind);
}

/** One line per error. `kind` is omitted for checks that are not of one kind. */
export function problems(errors: Iterable<FieldError>, kind?: string): readonly string[] {
  const all = [...errors].filter((error) => error !== PAUSE);
  (globalThis as Recording).k8tsOnFieldErrors?.(all, kind);
  return all.map(describeFieldError);
}

/** Records for tools/rules which errors the tests have seen. */
interface Recording {
  readonly k8tsOnFieldErrors?: (errors: readonly FieldError[], kind?: string) => void;
}

/** Errors of an update by the object's own path, or by that of a subresource. */
export function warningsOfChange<T extends KubeObject>(
  resource: Resource<T>,
  previous: T,
  sent: Sent,
  subresource?: string,
): readonly string[] {
  const next = changedObject(resource, previous, sent, subresource);
  return [...((subresource === undefined ? resource : objectSubresource(resource, subresource)).warnings?.(next, previous) ?? [])];
}

export function warningsOfNew<T extends KubeObject>(resource: Resource<T>, sent: Sent): readonly string[] {
  return [...(resource.warnings?.(newObject(resource, sent)) ?? [])];
}

/** Cells of a table row by column, at the time of the tests. */
export function cellsOf<T extends KubeObject>(resource: Resource<T>, object: T, nowMs = 0): Readonly<Record<string, CellValue>> {
  return Object.fromEntries(resource.columns.map((column) => [column.name, column.value(object, { nowMs })]));
}

/** "Name", "Ready*": the columns in order; those of `-o wide` only have a star. */
export function columnNames(resource: Resource): readonly string[] {
  return resource.columns.map(({ name, priority }) => (priority === 0 ? name : `${name}*`));
}

/** Decoded, with defaults, in the storage version. */
export function received<T extends KubeObject>(resource: Resource<T>, sent: Sent, apiVersion?: string): T {
  const served = servedVersion(resource, apiVersion ?? apiVersionOf(resource.storage));
  const namespace = resource.scope === "Namespaced" ? { namespace: "default" } : {};
  const complete = {
    ...sent,
    apiVersion: apiVersionOf(served),
    kind: resource.kind,
    metadata: { name: "x", ...namespace, ...sent.metadata },
  };
  const decoded = decodeBySchema(complete, schemaOf(served.schema)).object as KubeObject;
  const object = served.defaults?.(decoded) ?? decoded;
  return served.toStorage?.(object) ?? (object as T);
}

export function servedVersion<T extends KubeObject>(resource: Resource<T>, apiVersion: string): ServedVersion<T> {
  const served = resource.served.find((candidate) => apiVersionOf(candidate) === apiVersion);
  if (served === undefined) throw new Error(`Cannot find ${apiVersion} of ${resource.kind}: it is not served`);
  return served;
}

function objectSubresource<T extends KubeObject>(resource: Resource<T>, name: string) {
  const subresource = resource.subresources[name];
  if (subresource?.of !== "object") throw new Error(`Cannot find a part of ${resource.kind} that is called "${name}"`);
  return subresource;
}
