/** Differences of two objects by field, their merge, and who wrote a field last. Pure. */
import type { JsonObject, Json, KubeObject } from "../../../api/machinery/object.ts";
import { isObject } from "../../../api/machinery/object.ts";

export type FieldPath = readonly (string | number)[];

/** Undefined: the field does not exist. */
export interface FieldChange {
  readonly path: FieldPath;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** Of the deepest fields that differ. Lists of different lengths differ as a whole. */
export function fieldChanges(before: Json | undefined, after: Json | undefined, path: FieldPath = []): readonly FieldChange[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => fieldChanges(own(before, name), own(after, name), [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item: Json, index) => fieldChanges(item, (after as readonly Json[])[index], [...path, index]));
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

function own(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The value with these changes, whatever it had before. */
export function withChanges(value: Json, changes: readonly FieldChange[]): Json {
  let result = value;
  for (const { path, after } of changes) result = withField(result, path, after) ?? null;
  return result;
}

function withField(value: Json | undefined, [name, ...rest]: FieldPath, after: Json | undefined): Json | undefined {
  if (name === undefined) return after;
  if (typeof name === "number" && Array.isArray(value)) {
    const items: readonly Json[] = value;
    return items.map((item, index) => (index === name ? (withField(item, rest, after) ?? null) : item));
  }
  const members: JsonObject = isObject(value) ? value : {};
  const { [name]: old, ...others } = members;
  const fresh = withField(old, rest, after);
  if (fresh === undefined) return others;
  // An existing member keeps its place.
  return old === undefined ? { ...others, [name]: fresh } : { ...members, [name]: fresh };
}

export function fieldText(path: FieldPath): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${part}`)).join("");
}

/** Written by the server with every change, or by others than the user of an editor. */
const BOOKKEEPING = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"];

export function withoutBookkeeping(object: KubeObject): KubeObject {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([name]) => !BOOKKEEPING.includes(name)));
  const { status: _observed, ...rest } = object as KubeObject & { readonly status?: unknown };
  return { ...rest, metadata: metadata as KubeObject["metadata"] };
}

/** "kubectl (Apply, 2026-01-01T00:00:00Z)": the managers that own the field, the last one first. "" if none is known. */
export function ownerOf(object: KubeObject, path: FieldPath): string {
  return (object.metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => owns(fieldsV1, object, path))
    .sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))
    .map(({ manager = "unknown", operation, subresource = "", time }) => {
      const details = [operation, subresource === "" ? undefined : `subresource ${subresource}`, time].filter((word) => word !== undefined);
      return `${manager} (${details.join(", ")})`;
    })
    .join(", ");
}

/** A field that exists is named by its path in the set, or by one below it. */
function owns(fields: unknown, value: unknown, [name, ...rest]: FieldPath): boolean {
  if (name === undefined) return true;
  if (!isObject(fields)) return false;
  if (typeof name === "string")
    return Object.hasOwn(fields, `f:${name}`) && owns(fields[`f:${name}`], isObject(value) ? value[name] : undefined, rest);
  const item = Array.isArray(value) ? (value as readonly unknown[])[name] : undefined;
  const key = Object.keys(fields).find((candidate) => isKeyOf(candidate, item));
  // A list without keys is owned as a whole.
  return key === undefined ? Object.keys(fields).length === 0 : owns(fields[key], item, rest);
}

function isKeyOf(key: string, item: unknown): boolean {
  if (key.startsWith("v:")) return key.slice(2) === JSON.stringify(item);
  if (!key.startsWith("k:") || !isObject(item)) return false;
  const wanted = JSON.parse(key.slice(2)) as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([name, value]) => JSON.stringify(item[name]) === JSON.stringify(value));
}
