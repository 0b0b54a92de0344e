/**
 * One entry of managedFields: a manager, its fields, and the operation. An owner is identified by manager, operation, subresource and, for
 * updates, API version; an applier is one owner in all versions. Immutable; serialized once. Not here: all entries of one object
 * (managed-fields.ts).
 */
import type { JsonObject, ManagedFieldsEntry } from "../object.ts";
import { quoted } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";

export interface OwnerParts {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for writes of the object itself. */
  readonly subresource: string;
  /** Absent if the entry never changed the object. */
  readonly time: string | undefined;
}

export class Owner implements OwnerParts {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
  #text: string | undefined;

  /** `text`: the serialized entry, if known. */
  constructor(parts: OwnerParts, fields: FieldSet, text?: string) {
    this.manager = parts.manager;
    this.operation = parts.operation;
    this.apiVersion = parts.apiVersion;
    this.subresource = parts.subresource;
    this.time = parts.time;
    this.fields = fields;
    this.#text = text;
  }

  /** The same owner with other fields; itself if they are equal. */
  withFields(fields: FieldSet): Owner {
    return fields === this.fields ? this : new Owner(this, fields);
  }

  withTime(time: string | undefined): Owner {
    return time === this.time ? this : new Owner({ ...partsOf(this), time }, this.fields);
  }

  /** The entry as JSON, members in upstream's order. */
  text(): string {
    return (this.#text ??= textOfEntry(this, this.fields.text()));
  }

  entry(): ManagedFieldsEntry {
    return JSON.parse(this.text()) as ManagedFieldsEntry;
  }
}

function partsOf({ manager, operation, apiVersion, subresource, time }: OwnerParts): OwnerParts {
  return { manager, operation, apiVersion, subresource, time };
}

export function textOfEntry({ manager, operation, apiVersion, subresource, time }: OwnerParts, fieldsText: string): string {
  const start = manager === "" ? "{" : `{"manager":${quoted(manager)},`;
  const when = time === undefined ? "" : `,"time":"${time}"`;
  const where = subresource === "" ? "" : `,"subresource":${quoted(subresource)}`;
  return `${start}"operation":"${operation}","apiVersion":${quoted(apiVersion)}${when},"fieldsType":"FieldsV1","fieldsV1":${fieldsText}${where}}`;
}

/** Upstream's identifier of an owner, also the last criterion of the order. */
export function ownerId({ manager, operation, apiVersion, subresource }: OwnerParts): string {
  return JSON.stringify({
    ...(manager === "" ? {} : { manager }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  });
}

export function isSameOwner(a: OwnerParts, b: OwnerParts): boolean {
  if (a.manager !== b.manager || a.operation !== b.operation || a.subresource !== b.subresource) return false;
  return a.operation === "Apply" || a.apiVersion === b.apiVersion;
}

/** Parses an entry from a client. Throws an Error with upstream's message if it is malformed. */
export function ownerOfEntry(entry: ManagedFieldsEntry, index: number): Owner {
  const { manager = "", operation, apiVersion = "", subresource = "", time, fieldsType, fieldsV1 } = entry;
  if (operation !== "Apply" && operation !== "Update") throw new Error("operation must be `Apply` or `Update`");
  if (apiVersion === "") throw new Error("apiVersion must not be empty");
  const type: string = fieldsType ?? "";
  if (type === "") throw new Error(`missing fieldsType in managed fields entry ${index}`);
  if (type !== "FieldsV1") throw new Error(`invalid fieldsType ${JSON.stringify(type)} in managed fields entry ${index}`);
  return new Owner({ manager, operation, apiVersion, subresource, time }, setOfEntry(fieldsV1 ?? {}));
}

function setOfEntry(fields: JsonObject): FieldSet {
  try {
    return FieldSet.fromJson(fields);
  } catch (error) {
    throw new Error(`error decoding set: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Appliers first, then by time, manager, version and subresource. */
export function compareOwners(a: OwnerParts, b: OwnerParts): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? "", b.time ?? "") ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Beyond this many update entries the oldest are merged: otherwise every controller that ever wrote would stay. Upstream's number. */
export const UPDATE_OWNERS_MAX = 10;

/** Manager of merged entries. */
const MERGED_OWNER = "ancient-changes";

/** Owners of one version that are merged. */
interface Merged {
  /** Time of the most recent of them. */
  readonly parts: OwnerParts;
  readonly fields: FieldSet[];
}

/**
 * Limits update entries to UPDATE_OWNERS_MAX: the oldest of each version are merged. A client may send thousands of them, so each is
 * visited once and their fields are united at the end.
 */
export function capped(owners: readonly Owner[]): readonly Owner[] {
  let surplus = owners.filter(({ operation }) => operation === "Update").length - UPDATE_OWNERS_MAX;
  if (surplus <= 0) return owners;
  const kept = new Set(owners);
  const mergedBefore = new Map(owners.filter(isMergedOwner).map((owner) => [owner.apiVersion, owner]));
  const firstOfVersion = new Map<string, Owner>();
  const merged = new Map<string, Merged>();
  for (const owner of updatersByAge(owners)) {
    if (surplus <= 0) break;
    const { apiVersion } = owner;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, owner);
      continue;
    }
    const last = mergedBefore.get(apiVersion);
    const older = last === undefined || last === owner ? first : last;
    const fields = merged.get(apiVersion)?.fields ?? [older.fields];
    fields.push(owner.fields);
    kept.delete(older);
    kept.delete(owner);
    merged.set(apiVersion, { parts: { ...partsOf(owner), manager: MERGED_OWNER, subresource: "" }, fields });
    surplus--;
  }
  return [...kept, ...Array.from(merged.values(), ({ parts, fields }) => new Owner(parts, FieldSet.unionOf(fields)))];
}

function isMergedOwner({ manager, operation, subresource }: OwnerParts): boolean {
  return manager === MERGED_OWNER && operation === "Update" && subresource === "";
}

/** Oldest first. */
function updatersByAge(owners: readonly Owner[]): readonly Owner[] {
  return owners
    .filter(({ operation }) => operation === "Update")
    .map((owner) => ({ owner, time: owner.time ?? "", id: ownerId(owner) }))
    .sort((a, b) => compareText(a.time, b.time) || compareText(a.id, b.id))
    .map(({ owner }) => owner);
}
