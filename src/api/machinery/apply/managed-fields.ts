/**
 * Who owns which fields of one object, and how that changes with every create, update and patch that is no apply: whoever changes a field
 * owns it, and nobody else does any more.
 *
 * Sets are parsed when they are first needed and shared from one version of an object to the next; text that did not change is used again.
 * Objects come without managedFields, which are never part of the shared object. Not here: server-side apply (apply.ts).
 */
import type { JsonObject, ManagedFieldsEntry } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { badRequest } from "../status-error.ts";
import { compareObjects, isSame } from "./compare.ts";
import { textOfCreated } from "./created-text.ts";
import { fieldElement } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";
import { ignoredRootFields, type IgnoredFields } from "./ignored-fields.ts";
import { capped, compareOwners, isSameOwner, Owner, ownerId, ownerOfEntry, type OwnerParts } from "./owner.ts";
import { ownersOfText } from "./owner-text.ts";
import { blankObject, UnnamedItem } from "./shape.ts";
import { changesByVersion, fieldsLeft, type Difference, type Versions } from "./versions.ts";

/** Part of this file's contract with the API server. */
export type { IgnoredFields } from "./ignored-fields.ts";

/** The managedFields of one object: parsed when needed, its JSON text made once. Immutable. */
export class ManagedFields {
  static readonly none = new ManagedFields([], "");

  #owners: readonly Owner[] | undefined;
  #text: string | undefined;

  private constructor(owners: readonly Owner[] | undefined, text: string | undefined) {
    this.#owners = owners;
    this.#text = text;
  }

  /** From the JSON text of the array, as stored. */
  static fromText(text: string): ManagedFields {
    return text === "" || text === "[]" ? ManagedFields.none : new ManagedFields(undefined, text);
  }

  /** From decoded entries, as a client sends them. Throws a BadRequest in upstream's words if one is malformed. */
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

  /** One owner, whose entry is there as text. */
  static ofEntryText(owner: Owner): ManagedFields {
    return new ManagedFields([owner], undefined);
  }

  /** As it is stored and sent; "" if there are none. */
  text(): string {
    return (this.#text ??= `[${this.owners()
      .map((owner) => owner.text())
      .join(",")}]`);
  }

  entries(): readonly ManagedFieldsEntry[] {
    return this.owners().map((owner) => owner.entry());
  }

  /** In the order of the text. */
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

/** Whether two are the same but for times: then nothing but the clock would be written. */
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

/** Who writes. */
export interface FieldWriter {
  readonly manager: string;
  /** Of the request, and of the objects that are compared. */
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
  /** What the client sent as managedFields, if it sent the field at all. An empty list, or one empty entry, resets. */
  readonly sent?: readonly ManagedFieldsEntry[];
  readonly writer: FieldWriter;
  readonly ignore?: IgnoredFields;
  /** For kinds that are served in several versions. */
  readonly versions?: Versions;
}

/** After a create, update or patch that is no apply. */
export function trackUpdate(options: TrackUpdateOptions): ManagedFields {
  const { previous, schema, next } = options;
  const managed = startOf(options);
  if (managed.isEmpty) {
    // Whoever cleared the owners wants none until somebody applies; upstream keeps it so.
    if (previous !== undefined) return ManagedFields.none;
    const created = trackCreate(options);
    if (created !== undefined) return created;
  }
  try {
    const before = previous ?? blankObject(schema);
    const comparison = compareObjects(schema, before, next);
    if (managed === options.previousManaged && isSame(comparison)) return managed;
    return takeChanges(managed, options, { previous: before, next, comparison });
  } catch (error) {
    // A list has an item without a name: upstream then gives up on ownership rather than on the write.
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
    // Upstream takes malformed owners as sent by a client that knows nothing of them.
    return previousManaged;
  }
}

/** The fields of metadata that nobody owns: they say which object it is, or are the server's alone. */
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

/** What is left of a set without what nobody owns. */
export function withoutUnowned(fields: FieldSet): FieldSet {
  return fields.difference(UNOWNED);
}

/** A create by one writer, as text straight from the object; undefined if what is ignored is too special for that. */
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

/** How a writer is called that gave no name. */
const UNKNOWN_MANAGER = "unknown";

export function updaterOf({ manager, apiVersion, subresource = "", time }: FieldWriter): OwnerParts {
  return { manager: manager === "" ? UNKNOWN_MANAGER : manager, operation: "Update", apiVersion, subresource, time };
}

function takeChanges(managed: ManagedFields, options: TrackUpdateOptions, difference: Difference): ManagedFields {
  const { writer } = options;
  const changeIn = changesByVersion(options, difference);
  const owners: Owner[] = [];
  for (const owner of managed.owners()) {
    const change = changeIn(owner.apiVersion);
    const left = change === undefined ? FieldSet.empty : fieldsLeft(owner.fields, change);
    if (!left.isEmpty) owners.push(owner.withFields(left));
  }
  const taken = withoutUnowned(changeIn(writer.apiVersion)?.changed ?? FieldSet.empty);
  const all = taken.isEmpty ? owners : withOwner(owners, new Owner(updaterOf(writer), taken));
  return ManagedFields.of(capped(all));
}

/** The owner added, or joined with what it owned before. */
function withOwner(owners: readonly Owner[], owner: Owner): readonly Owner[] {
  const old = owners.find((candidate) => isSameOwner(candidate, owner));
  if (old === undefined) return [...owners, owner];
  const joined = owner.withFields(old.fields.union(owner.fields));
  return owners.map((candidate) => (candidate === old ? joined : candidate));
}
