/**
 * Tracks which manager owns which fields of one object through every create, update and patch other than apply: the manager that changes a
 * field becomes its only owner.
 *
 * Sets are parsed lazily and shared from one version of an object to the next; unchanged text is reused. Objects come without
 * managedFields, which are never part of the shared object. Not here: server-side apply (apply.ts).
 */
import type { JsonObject, ManagedFieldsEntry } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { badRequest } from "../status-error.ts";
import { compareObjects, isSame } from "./compare.ts";
import { textOfCreated } from "./created-text.ts";
import { fieldElement } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";
import { ignoredRootFields, withIgnoredOf, type IgnoredFields } from "./ignored-fields.ts";
import { capped, compareOwners, isSameOwner, Owner, ownerId, ownerOfEntry, type OwnerParts } from "./owner.ts";
import { ownersOfText } from "./owner-text.ts";
import { blankObject, UnnamedItem } from "./shape.ts";
import { changesByVersion, fieldsLeft, fieldsWith, type Difference, type Versions } from "./versions.ts";

/** Part of this file's contract with the API server. */
export type { IgnoredFields } from "./ignored-fields.ts";

/** The managedFields of one object: parsed lazily, serialized once. Immutable. */
export class ManagedFields {
  static readonly none = new ManagedFields([], "");

  #owners: readonly Owner[] | undefined;
  #text: string | undefined;

  private constructor(owners: readonly Owner[] | undefined, text: string | undefined) {
    this.#owners = owners;
    this.#text = text;
  }

  /** From the stored JSON text of the array. */
  static fromText(text: string): ManagedFields {
    return text === "" || text === "[]" ? ManagedFields.none : new ManagedFields(undefined, text);
  }

  /** From decoded entries of a client. Throws a BadRequest with upstream's message if one is malformed. */
  static fromEntries(entries: readonly ManagedFieldsEntry[]): ManagedFields {
    const owners = new Map<string, Owner>();
    for (const [index, entry] of entries.entries()) {
      const owner = ownerOrBadRequest(entry, index);
      owners.set(ownerId(owner), owner);
    }
    return ManagedFields.of([...owners.values()]);
  }

  static of(owners: readonly Owner[]): ManagedFields {
    return owners.length === 0 ? ManagedFields.none : new ManagedFields(owners.toSorted(compareOwners), undefined);
  }

  /** A single owner, whose entry is given as text. */
  static ofEntryText(owner: Owner): ManagedFields {
    return new ManagedFields([owner], undefined);
  }

  /** The stored and sent form; "" if none exist. */
  text(): string {
    return (this.#text ??= `[${this.owners()
      .map((owner) => owner.text())
      .join(",")}]`);
  }

  entries(): readonly ManagedFieldsEntry[] {
    return this.owners().map((owner) => owner.entry());
  }

  /** In text order. */
  owners(): readonly Owner[] {
    return (this.#owners ??= ownersOfText(this.#text ?? ""));
  }

  get isEmpty(): boolean {
    return this === ManagedFields.none || this.owners().length === 0;
  }
}

function ownerOrBadRequest(entry: ManagedFieldsEntry, index: number): Owner {
  try {
    return ownerOfEntry(entry, index);
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error), error);
  }
}

/** True if two are equal except for times: then only timestamps would be written. */
export function areSameButTimes(a: ManagedFields, b: ManagedFields): boolean {
  if (a === b) return true;
  const others = b.owners();
  const owners = a.owners();
  return (
    owners.length === others.length &&
    owners.every((owner, index) => {
      const other = others[index];
      return other !== undefined && isSameOwner(owner, other) && owner.apiVersion === other.apiVersion && owner.fields.equals(other.fields);
    })
  );
}

/** The writer of an object. */
export interface FieldWriter {
  readonly manager: string;
  /** Version of the request, and of the compared objects. */
  readonly apiVersion: string;
  /** "2026-01-02T03:04:05Z". */
  readonly time: string;
  readonly subresource?: string;
}

export interface TrackUpdateOptions {
  /** Of `writer.apiVersion`. */
  readonly schema: ObjectSchema;
  /** Undefined: the object is created. */
  readonly previous: JsonObject | undefined;
  readonly previousManaged: ManagedFields;
  readonly next: JsonObject;
  /** managedFields of the request, if present. An empty list, or one empty entry, resets. */
  readonly sent?: readonly ManagedFieldsEntry[];
  readonly writer: FieldWriter;
  readonly ignore?: IgnoredFields;
  /** For kinds that are served in several versions. */
  readonly versions?: Versions;
}

/** Returns the owners after a create, update or patch other than apply. */
export function trackUpdate(options: TrackUpdateOptions): ManagedFields {
  const { previous, schema, next } = options;
  const managed = startOf(options);
  if (managed.isEmpty) {
    // Cleared owners stay cleared until the next apply, as upstream.
    if (previous !== undefined) return ManagedFields.none;
    const created = trackCreate(options);
    if (created !== undefined) return created;
  }
  try {
    const before = previous ?? blankObject(schema);
    const ownable = previous === undefined ? next : withIgnoredOf(schema, previous, next, options.ignore);
    const comparison = compareObjects(schema, before, ownable);
    if (managed === options.previousManaged && isSame(comparison)) return managed;
    return takeChanges(managed, options, { previous: before, next: ownable, comparison });
  } catch (error) {
    // A list has an item without a key: upstream then drops the ownership rather than failing the write.
    if (error instanceof UnnamedItem) return ManagedFields.none;
    throw error;
  }
}

/** The owners before the write: those of the live object, unless the client sent others. A subresource cannot change them. */
function startOf({ sent, writer, previousManaged }: TrackUpdateOptions): ManagedFields {
  if (sent === undefined || (writer.subresource ?? "") !== "") return previousManaged;
  const [only] = sent;
  if (only === undefined || (sent.length === 1 && Object.keys(only).length === 0)) return ManagedFields.none;
  try {
    return ManagedFields.fromEntries(sent);
  } catch {
    // Upstream ignores malformed managedFields, as sent by a client that does not know them.
    return previousManaged;
  }
}

/** Fields of metadata that have no owner: they identify the object, or only the server writes them. */
const UNOWNED_METADATA: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
]);

const UNOWNED_ROOT = ["apiVersion", "kind"];

const UNOWNED = FieldSet.fromPaths([
  ...[...UNOWNED_ROOT, "metadata"].map((name) => [fieldElement(name)]),
  ...[...UNOWNED_METADATA].map((name) => [fieldElement("metadata"), fieldElement(name)]),
]);

/** The set without unowned fields. */
export function withoutUnowned(fields: FieldSet): FieldSet {
  return fields.difference(UNOWNED);
}

/** Ownership of a create, as text directly from the object; undefined if the ignored fields do not allow that. */
function trackCreate({ schema, next, ignore, writer }: TrackUpdateOptions): ManagedFields | undefined {
  const ignored = ignoredRootFields(ignore, UNOWNED_ROOT);
  if (ignored === undefined) return undefined;
  try {
    const fields = textOfCreated(schema, next, { root: ignored, metadata: UNOWNED_METADATA });
    if (fields === "{}") return ManagedFields.none;
    return ManagedFields.ofEntryText(new Owner(updaterOf(writer), FieldSet.fromText(fields)));
  } catch (error) {
    if (error instanceof UnnamedItem) return ManagedFields.none;
    throw error;
  }
}

/** Default field manager. */
const UNKNOWN_MANAGER = "unknown";

export function updaterOf({ manager, apiVersion, subresource = "", time }: FieldWriter): OwnerParts {
  return { manager: manager === "" ? UNKNOWN_MANAGER : manager, operation: "Update", apiVersion, subresource, time };
}

function takeChanges(managed: ManagedFields, options: TrackUpdateOptions, difference: Difference): ManagedFields {
  const { writer } = options;
  const changeIn = changesByVersion(options, difference);
  const taken = withoutUnowned(changeIn(writer.apiVersion)?.changed ?? FieldSet.empty);
  const taker = new Owner(updaterOf(writer), taken);
  const owners: Owner[] = [];
  let isMerged = taken.isEmpty;
  for (const owner of managed.owners()) {
    const change = changeIn(owner.apiVersion);
    if (change === undefined) continue;
    if (!isMerged && isSameOwner(owner, taker)) {
      owners.push(taker.withFields(fieldsWith(owner.fields, change, taken)));
      isMerged = true;
      continue;
    }
    const left = fieldsLeft(owner.fields, change);
    if (!left.isEmpty) owners.push(owner.withFields(left));
  }
  if (!isMerged) owners.push(taker);
  return ManagedFields.of(capped(owners));
}
