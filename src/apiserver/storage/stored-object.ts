/**
 * One object at one revision: one copy that the whole process shares. It has bytes, or the parsed object, or both; each is derived from the
 * other on first use, and then kept. It is the memo that the store returns, so this process never parses what it wrote, and parses nothing
 * at start.
 *
 * managedFields are not part of the shared object: they are parsed on demand, and kept only for recently written objects.
 */
import { replaceMetadata } from "../../api/changes.ts";
import { deepFreeze } from "../../base/deep.ts";
import { jsonByteLength } from "../../base/json-size.ts";
import { Lru } from "../../base/lru.ts";
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import { apiVersionOf, type KubeObject } from "../../api/machinery/object.ts";
import type { ServedVersion } from "../../api/machinery/resource.ts";
import type { Entry, Value } from "../../store/store.ts";
import { StoreError } from "../../store/store-error.ts";
import { bytesValue } from "../../store/value.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { ObjectFormat } from "./object-format.ts";

/** Number of objects whose managedFields stay parsed: those that are written frequently (status, leases, labels). */
const PARSED_MANAGED_FIELDS_MAX = 2_048;

export interface FamilyOptions {
  /** Freezes objects that are read: in tests and development, since freezing a Pod costs more than validating it. */
  readonly freezes: boolean;
  /** Completes an object as stored by the present schema of its version. Default: stored objects are complete. */
  readonly complete?: ((object: KubeObject) => KubeObject) | undefined;
}

/** What all objects of one resource have in common. */
export class ObjectFamily {
  readonly format: ObjectFormat;
  readonly freezes: boolean;
  readonly complete: FamilyOptions["complete"];
  readonly managed = new Lru<StoredObject, ManagedFields>({ max: PARSED_MANAGED_FIELDS_MAX });

  constructor(format: ObjectFormat, { freezes, complete }: FamilyOptions) {
    this.format = format;
    this.freezes = freezes;
    this.complete = complete;
  }
}

/** A value as stored, before it is completed on first use. */
interface IncompleteValue {
  readonly key: string;
  readonly bytes: Uint8Array;
}

export class SharedObject implements StoredObject {
  readonly #family: ObjectFamily;
  /** 0: never written (a dry run), or the commit is still in progress. */
  #revision: number;
  #bytes: Uint8Array | undefined;
  /** With resourceVersion, without managedFields. */
  #object: KubeObject | undefined;
  /** Text of its managedFields, as long as there are no bytes to read it from. Parsed, they would be a fifth of a cluster in memory. */
  #managedText: string | undefined;
  /** Until there is a text or there are bytes. */
  #managed: ManagedFields | undefined;
  /** This object in other versions than the stored one. */
  #forms: Map<ServedVersion, KubeObject> | undefined;
  #incomplete: IncompleteValue | undefined;
  #isOutdated = false;

  private constructor(family: ObjectFamily, revision: number) {
    this.#family = family;
    this.#revision = revision;
  }

  /** An object to be written. Its revision is set when it is committed. `revision`: that of a dry run's result. */
  static fromObject(family: ObjectFamily, object: KubeObject, managed: ManagedFields, revision = 0): SharedObject {
    const made = new SharedObject(family, 0);
    made.#object = object;
    made.#managed = managed;
    family.managed.set(made, managed);
    if (revision !== 0) made.arriveAt(revision);
    return made;
  }

  static fromBytes(family: ObjectFamily, bytes: Uint8Array, revision: number, key = ""): SharedObject {
    const made = new SharedObject(family, revision);
    if (family.complete === undefined) made.#bytes = family.format.normalise(bytes);
    else made.#incomplete = { key, bytes };
    return made;
  }

  /** The value of a key in the store: an object of this process, or bytes. */
  static of(family: ObjectFamily, { key, value, revision }: Pick<Entry, "key" | "value" | "revision">): SharedObject {
    // A definition may have been replaced since: then its family is another one, too. Objects of built-in kinds are the same for all servers.
    if (value.memo instanceof SharedObject && (family.complete === undefined || value.memo.#family === family)) {
      value.memo.arriveAt(revision);
      return value.memo;
    }
    try {
      return SharedObject.fromBytes(family, value.bytes(), revision, key);
    } catch (error) {
      throw damaged(key, revision, error);
    }
  }

  /** Decodes and defaults a value that may have been written in another version, or with another schema. */
  #complete({ key, bytes }: IncompleteValue): void {
    const { format, complete } = this.#family;
    try {
      const { object, managedFields } = format.read(bytes);
      const completed = complete?.(object) ?? object;
      const isSame = completed === object && format.hasLayoutOf(object.apiVersion, bytes);
      this.#isOutdated = !isSame || object.apiVersion !== format.apiVersion;
      this.#bytes = isSame ? bytes : format.write(completed, managedFields);
      this.#object = this.#finish(completed);
      this.#incomplete = undefined;
    } catch (error) {
      throw damaged(key, this.#revision, error);
    }
  }

  #completed(): void {
    if (this.#incomplete !== undefined) this.#complete(this.#incomplete);
  }

  get isOutdated(): boolean {
    this.#completed();
    return this.#isOutdated;
  }

  /** The same content at another revision: the last state of a deleted object. */
  at(revision: number): SharedObject {
    const made = new SharedObject(this.#family, 0);
    made.#bytes = this.#bytes;
    made.#object = this.#object;
    made.#managed = this.#managed;
    made.#managedText = this.#managedText;
    made.#incomplete = this.#incomplete;
    if (this.#forms !== undefined) made.#forms = new Map(this.#forms);
    made.arriveAt(revision);
    return made;
  }

  get revision(): number {
    return this.#revision;
  }

  /** The commit assigned this revision. Idempotent. */
  arriveAt(revision: number): void {
    if (this.#revision === revision) return;
    this.#revision = revision;
    for (const [version, form] of this.#forms ?? []) this.#forms?.set(version, this.#finish(form));
    if (this.#object !== undefined) this.#object = this.#finish(this.#object);
  }

  /** Frozen by type, and in tests and development in fact. In the storage version. */
  get object(): KubeObject {
    this.#completed();
    this.#object ??= this.#finish(this.#family.format.read(this.bytes()).object);
    return this.#object;
  }

  /** This object in a served version. */
  in(version: ServedVersion): KubeObject {
    if (this.isStoredIn(version)) return this.object;
    const known = this.#forms?.get(version);
    if (known !== undefined) return known;
    if (version.fromStorage === undefined) throw new Error(`The object is not prepared for ${apiVersionOf(version)}`);
    return this.keepForm(version, version.fromStorage(this.object));
  }

  isStoredIn(version: ServedVersion): boolean {
    if (this.#family.complete === undefined) return version.fromStorage === undefined;
    return this.object.apiVersion === apiVersionOf(version);
  }

  isPreparedFor(version: ServedVersion): boolean {
    return version.fromStorage !== undefined || this.isStoredIn(version) || this.#forms?.has(version) === true;
  }

  keepForm(version: ServedVersion, form: KubeObject): KubeObject {
    const finished = this.#finish(form);
    this.#forms ??= new Map();
    this.#forms.set(version, finished);
    return finished;
  }

  managed(): ManagedFields {
    if (this.#managed !== undefined) return this.#managed;
    this.#completed();
    const known = this.#family.managed.get(this);
    if (known !== undefined) return known;
    const text = this.#managedText ?? this.#family.format.read(this.bytes()).managedFields;
    const managed = text === "" ? ManagedFields.none : ManagedFields.fromText(text);
    this.#family.managed.set(this, managed);
    return managed;
  }

  /** The stored form. */
  bytes(): Uint8Array {
    this.#completed();
    if (this.#bytes === undefined) {
      this.#bytes = this.#family.format.write(this.#object as KubeObject, this.#writtenManaged());
      this.#managedText = undefined; // From now on it can be read from the bytes.
    }
    return this.#bytes;
  }

  /** The value to commit. Drivers that keep the object itself never request the bytes; for others they are encoded now (`asBytes`). */
  value({ asBytes }: { readonly asBytes: boolean }): Value {
    if (asBytes || this.#bytes !== undefined) return bytesValue(this.bytes(), this);
    return new ObjectValue(this);
  }

  /** The exact size if the bytes exist; otherwise estimated, without the few bytes of layout and resourceVersion. */
  estimateBytes(): number {
    if (this.#bytes !== undefined) return this.#bytes.length;
    const managed = this.#writtenManaged();
    return jsonByteLength(this.#object) + (managed === "" ? 0 : managed.length + ',"managedFields":'.length);
  }

  /** Of an object without bytes. */
  #writtenManaged(): string {
    this.#managedText ??= (this.#managed as ManagedFields).text();
    this.#managed = undefined;
    return this.#managedText;
  }

  #finish(object: KubeObject): KubeObject {
    const finished = this.#revision === 0 ? object : withResourceVersion(object, String(this.#revision));
    return this.#family.freezes ? deepFreeze(finished) : finished;
  }
}

/** A value whose bytes may never be needed. It has no functions of its own, since a cluster in memory keeps one of these per version. */
class ObjectValue implements Value {
  readonly memo: SharedObject;

  constructor(memo: SharedObject) {
    this.memo = memo;
  }

  bytes(): Uint8Array {
    return this.memo.bytes();
  }

  sizeBytes(): number {
    return this.memo.estimateBytes();
  }
}

/** Hot path (called per commit). */
function withResourceVersion(object: KubeObject, resourceVersion: string): KubeObject {
  return replaceMetadata(object, Object.assign({}, object.metadata, { resourceVersion }));
}

function damaged(key: string, revision: number, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new StoreError("Damaged", `Cannot read the value of ${key} at revision ${revision}: ${why}`, { cause: error });
}
