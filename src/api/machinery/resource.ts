/**
 * The definition of a kind: one plain value per kind, pure functions only. The API server is generic over them and knows no kind by name; a
 * custom resource has the same definition, built from its CustomResourceDefinition at run time.
 *
 * Every function works on the storage version, unless it is part of a served version. None modifies its argument: unchanged parts keep
 * their identity, which lets the API server skip comparing, validating and writing them. A function that has nothing to change returns its
 * argument. Objects come without managedFields and, on create, without status unless the kind says otherwise. Not here: impure parts
 * (addresses, other objects, time): apiserver/resources/<kind>.
 */
import type { IgnoredFields } from "./apply/ignored-fields.ts";
import type { Decoded } from "./codec/decode.ts";
import type { FieldError } from "./field-error.ts";
import type { GroupVersion, GroupVersionKind, Json, JsonObject, KubeObject } from "./object.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export const ALL_VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

export interface Resource<T extends KubeObject = KubeObject> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  /** In any order; discovery uses the order of api/all.ts and of versions (v2 before v1). */
  readonly served: readonly ServedVersion<T>[];
  /** One of `served`: the version in which values are stored, whose group determines their key (storage-prefix.ts). */
  readonly storage: GroupVersion;
  /**
   * Versions of the storage group in which upstream's API server may have stored objects, though no longer served. `upgrade` converts to
   * the storage version; absent: they differ in the name only.
   */
  readonly olderStorage?: readonly { readonly version: string; readonly upgrade?: (object: JsonObject) => JsonObject }[];
  /** The kind of its lists. Default: the kind with the suffix "List". */
  readonly listKind?: string;
  /**
   * Present if values may be stored in several versions, and each version has functions of its own (custom resources): then every function
   * of the resource works on the version of the request instead of the storage version, and objects are converted only where they are
   * read and stored.
   */
  readonly conversion?: Conversion;
  /**
   * True if stored values depend on a schema that can change while they stay (custom resources): a value is decoded and defaulted in its own
   * version when it is read.
   */
  readonly completesStored?: true;
  /** False: it has no protobuf form and no strategic merge (custom resources). Default: true. */
  readonly isTyped?: false;
  /** False: a review that is never stored (SubjectAccessReview); apiserver/resources/<kind> handles its create. */
  readonly stored: boolean;
  /** Maximum body size of a kind that is not stored. Default: apiserver/limits/body-limits.ts. */
  readonly bodyBytesMax?: number;
  readonly verbs: readonly Verb[];
  readonly subresources: Readonly<Record<string, Subresource<T>>>;

  // ── write strategy ──
  /** A PUT to a name that does not exist creates the object. */
  readonly createOnUpdate: boolean;
  /** A PUT without resourceVersion is allowed and overwrites unconditionally. */
  readonly unconditionalUpdate: boolean;
  /** Default propagation policy of deletes. */
  readonly defaultPropagation: "Background" | "Orphan";
  /** Warning for deletes without a propagation policy. */
  readonly defaultPropagationWarning?: string;
  /**
   * Graceful deletion: how long a deleted object waits for the component that runs it (the kubelet). Absent: objects are removed at once.
   * `requested` is the client's grace period. 0: at once.
   */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** A delete returns the deleted object instead of a Status (pods, services, namespaces and others upstream). */
  readonly returnsDeletedObject?: boolean;
  /**
   * A condition besides finalizers that delays removal (Namespace: its spec.finalizers): `begin` marks the object as terminating,
   * `isPending` is true while it must stay.
   */
  readonly deletion?: { begin(object: T): T; isPending(object: T): boolean };
  /** Called when a deletion is requested the first time: adds finalizers and the status that clients see meanwhile. */
  beginDeletion?(object: T, nowMs: number): T;
  /** False: no state follows from this kind and timers write it (Lease, Event), so the record of causes leaves it out. Default: true. */
  readonly recordsCauses?: false;
  /** Time to live of objects of this kind, counted from their last write (Event). */
  readonly secondsToLive?: number;
  /** Fields whose ownership a write of the object itself does not change. Default: `status`, if it is a subresource. */
  readonly ignoredFields?: IgnoredFields;
  /** Called first on create: drops what clients may not set (status), sets initial values. */
  prepareForCreate?(object: T, write: WriteContext): T;
  /** For a write of the object itself: restores what this path may not change (status). */
  prepareForUpdate?(next: T, previous: T, write: WriteContext): T;
  /** True if the change affects the desired state, which increments `metadata.generation`. Absent: the kind has no generation. */
  changesGeneration?(next: T, previous: T): boolean;

  // ── validation; metadata is validated by the API server ──
  /**
   * Finalizers without a domain may have any name (custom resources, and a few kinds with laxer validation upstream). Default: only the
   * standard ones.
   */
  readonly allowsPlainFinalizers?: boolean;
  /** The metadata of a new object is validated only if the rest is valid, as upstream does with a few kinds. */
  readonly checksMetadataLast?: true;
  /** Builds a name from `generateName`. Default: with a suffix of five random characters. */
  generatedName?(generateName: string): string;
  /** Returns why no object may be created now; undefined if it may. */
  refusesCreation?(): string | undefined;
  /** Returns why this object may not be deleted by name; undefined if it may. */
  refusesDeletion?(object: T): string | undefined;
  /** Name rule: returns messages, none for a valid name. Default: a DNS subdomain. */
  validateName?(name: string): readonly string[];
  /**
   * Validates an object. On update `previous` is given, for rules that apply to changes only. `warn` gets violations that an update may
   * keep, for the `Warning` header.
   */
  validate?(object: T, previous?: T, warn?: (sentence: string) => void): Iterable<FieldError>;
  /** Rejects changes of immutable fields. Called in addition to `validate`. */
  validateUpdate?(next: T, previous: T): Iterable<FieldError>;
  /** Messages for the `Warning` header. */
  warnings?(object: T, previous?: T): Iterable<string>;

  // ── reading ──
  /** Fields of field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields: SelectableFields<T>;
  /** Members of `selectableFields` that are selected so often that the watch cache keeps an index for each. */
  readonly indexedFields?: readonly string[];
  /** All columns in order, with Name and Age (machinery/columns.ts has shared ones). */
  readonly columns: readonly Column<T>[];
  /** Row order of a list's table. Default: that of the list. */
  tableOrder?(a: T, b: T): number;
  /** Conditions of a table row (Pod: Completed). */
  rowConditions?(
    object: T,
  ): readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

/** The user and time of a write, for the few kinds that record them (CertificateSigningRequest). */
export interface WriteContext {
  readonly user: {
    readonly name: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly nowMs: number;
}

/** Field selectors by path, with a getter of the value. Declared as a method's type, so that a Resource<Pod> is also a Resource. */
export type SelectableFields<T extends KubeObject> = Readonly<Record<string, { read(object: T): string }["read"]>>;

/** Converts objects between the versions of a kind. */
export interface Conversion {
  /**
   * The objects, which are in any version of the kind, in the given version; in their order. A promise only where another program
   * converts. Throws or rejects with a StatusError.
   */
  convert(objects: readonly KubeObject[], toVersion: string): readonly KubeObject[] | Promise<readonly KubeObject[]>;
}

/** A type that brings its own OpenAPI schema (custom resources). */
export interface PublishedType {
  /** In the form of OpenAPI v3, structural, without kind, apiVersion and metadata. Absent: every value is valid. */
  readonly schema?: JsonObject;
  /** Unknown fields are kept everywhere. */
  readonly preservesUnknown: boolean;
  /** Fields of field selectors: "spec.color". */
  readonly selectableFields: readonly string[];
}

/** One group and version under which a kind is served. */
export interface ServedVersion<T extends KubeObject = KubeObject> extends GroupVersion {
  /** The OpenAPI name of its type: "io.k8s.api.apps.v1.Deployment". */
  readonly schema: string;
  /** Deprecation warning for every request to this version. */
  readonly deprecation?: string;
  /** Values may be stored in this version, but no path serves it. */
  readonly isHidden?: true;
  /** What differs in this version from the other members of the resource. */
  readonly own?: Partial<Resource<T>>;
  /** Decodes parsed JSON. Throws a DecodeError or StatusError. Default: by the schema. */
  decode?(value: Json): Decoded;
  /** Decodes a stored value; repairs what it can instead of failing. Default: `decode`. */
  decodeStored?(value: Json): Decoded;
  /** The source of its OpenAPI definition. Default: `schema`. */
  readonly published?: PublishedType;
  /** Sets defaults. Called after decoding, and again after mutating admission. */
  defaults?(object: KubeObject): KubeObject;
  /** Absent: it is the storage version, or differs from it in the name only. */
  toStorage?(object: KubeObject): T;
  fromStorage?(object: T): KubeObject;
  /** For a version with its own validation, replaces the resource's `validate` and `validateUpdate`. */
  validate?(object: T, previous?: T): Iterable<FieldError>;
  /** Replaces the resource's `warnings`. */
  readonly selectableFields?: SelectableFields<T>;
}

export type Subresource<T extends KubeObject = KubeObject> =
  /** A subresource that writes a part of the object: status, ephemeralcontainers, resize, finalize, approval. */
  | {
      readonly of: "object";
      readonly verbs: readonly Verb[];
      /** Takes the part that this path writes from `next`, everything else from `previous`. */
      prepareForUpdate(next: T, previous: T, write: WriteContext): T;
      /** Fields whose ownership a write to this path does not change. Default: `spec` for the path "status", `status` for others. */
      readonly ignoredFields?: IgnoredFields;
      /** Called instead of the resource's `validate` and `validateUpdate`. */
      validateUpdate?(next: T, previous: T, warn?: (sentence: string) => void): Iterable<FieldError>;
      /** Called instead of the resource's `warnings`. */
      warnings?(next: T, previous: T): Iterable<string>;
    }
  /** autoscaling/v1 Scale: the desired number of replicas. The paths are for field ownership. */
  | {
      readonly of: "scale";
      readonly verbs: readonly Verb[];
      readonly replicasPath: readonly string[];
      read(object: T): { readonly specReplicas: number; readonly statusReplicas: number; readonly selector: string };
      write(object: T, replicas: number): T;
    }
  /** Accepts an object of another kind as a command (Binding, Eviction): apiserver/resources/<kind> executes it. */
  | { readonly of: "action"; readonly verbs: readonly Verb[]; readonly takes: TakenKind }
  /** Connects to where the object runs (log, exec, attach, portforward, proxy): apiserver/connections resolves the address. */
  | {
      readonly of: "connection";
      /** Verbs for authorization; each is an HTTP method (get: GET, create: POST, …). */
      readonly verbs: readonly Verb[];
      /** Type of the query parameters: one per field. */
      readonly options: GroupVersionKind & { readonly schema: string };
      validateOptions?(options: JsonObject): Iterable<FieldError>;
      /** Proxies requests to an HTTP server: any method, any path suffix. */
      readonly forwards?: true;
      /** Responds with text (log). OpenAPI shows it as a read of the object itself. */
      readonly answersText?: true;
      /** Verb required for every method: a WebSocket begins with a GET but is not a read. */
      readonly alsoNeeds?: Verb;
    };

export interface TakenKind extends GroupVersionKind {
  readonly schema: string;
  /** Versions in which the same body may be sent, though they are not served. */
  readonly olderVersions?: readonly string[];
  /** Maximum body size. Default: apiserver/limits/body-limits.ts. */
  readonly bodyBytesMax?: number;
}

export type CellValue = string | number | boolean | null;

export interface Column<T extends KubeObject = KubeObject> {
  /** Upstream's spelling ("Cluster-IP"); kubectl converts it to upper case. */
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description: string;
  /** 0: always shown; greater: only with `-o wide`. */
  readonly priority: number;
  value(object: T, context: { readonly nowMs: number }): CellValue;
}

/** Defines a kind, with common defaults filled in. */
export type ResourceDefinition<T extends KubeObject> = Pick<Resource<T>, "kind" | "plural" | "singular" | "scope" | "served" | "columns"> &
  Partial<Resource<T>>;

export function defineResource<T extends KubeObject>(definition: ResourceDefinition<T>): Resource<T> {
  const [only, another] = definition.served;
  if (only === undefined || (another !== undefined && definition.storage === undefined)) {
    throw new Error(`Cannot define ${definition.kind}: with several served versions, "storage" must name one of them`);
  }
  return Object.freeze({
    shortNames: [],
    categories: [],
    storage: { group: only.group, version: only.version },
    stored: true,
    verbs: ALL_VERBS,
    subresources: {},
    createOnUpdate: false,
    unconditionalUpdate: true,
    defaultPropagation: "Background",
    selectableFields: {},
    ...definition,
  } as const satisfies Resource<T>);
}
