/**
 * The shape in which every kind is described: one plain value per kind, pure functions only. The API server is generic over them and
 * knows no kind by name; a custom resource is the same thing, made from its definition at run time.
 *
 * Every function works on the storage version, unless it stands in a served version. None changes its argument: what stays the same
 * keeps its identity, which lets the machine skip comparing, validating and writing it. A function that has nothing to change returns
 * its argument. Objects come without managedFields and, on create, without status unless the kind says otherwise.
 * Not here: what cannot be pure (addresses, other objects, time): apiserver/resources/<kind>.
 */
import type { IgnoredFields } from "./apply/ignored-fields.ts";
import type { FieldError } from "./field-error.ts";
import type { GroupVersion, GroupVersionKind, JsonObject, KubeObject } from "./object.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export const ALL_VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

export interface Resource<T extends KubeObject = KubeObject> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  /** In any order; discovery prefers the order of api/all.ts and of versions (v2 before v1). */
  readonly served: readonly ServedVersion<T>[];
  /** One of `served`: how values are stored, and whose group decides about their key (storage-prefix.ts). */
  readonly storage: GroupVersion;
  /**
   * Versions of the storage group in which upstream's API server may have stored objects, though they are served nowhere. `upgrade` makes
   * the storage version of one; absent: they differ in nothing but the name.
   */
  readonly olderStorage?: readonly { readonly version: string; readonly upgrade?: (object: JsonObject) => JsonObject }[];
  /** False: it is answered and never stored (SubjectAccessReview); apiserver/resources/<kind> answers its create. */
  readonly stored: boolean;
  /** Maximum body size of a kind that is not stored. Absent: that of all such kinds (apiserver/limits/body-limits.ts). */
  readonly bodyBytesMax?: number;
  readonly verbs: readonly Verb[];
  readonly subresources: Readonly<Record<string, Subresource<T>>>;

  // ── write rules ──
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** A PUT without resourceVersion is allowed, and wins. */
  readonly unconditionalUpdate: boolean;
  /** What happens to dependents if a delete does not say. */
  readonly defaultPropagation: "Background" | "Orphan";
  /** A sentence for whoever deletes and does not say it. */
  readonly defaultPropagationWarning?: string;
  /**
   * How long a deletion waits for whoever runs the object (the kubelet). Absent: objects go at once.
   * `requested` is what the client asked for. 0: at once.
   */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** A delete answers with the object that is gone, not with a Status (pods, services, namespaces and others upstream). */
  readonly returnsDeletedObject?: boolean;
  /**
   * Something else than finalizers must be done before objects of this kind go (Namespace: its spec.finalizers): `begin` makes the
   * object show that it is going, `isPending` says whether it must still stay.
   */
  readonly deletion?: { begin(object: T): T; isPending(object: T): boolean };
  /** Set on objects of this kind that are written: they expire this long after their last write (Event). */
  readonly secondsToLive?: number;
  /** What nobody comes to own by writing the object itself. Default: `status`, if it has a path of its own. */
  readonly ignoredFields?: IgnoredFields;
  /** Called before everything else of a create: drops what clients may not set (status), puts in what every new object has. */
  prepareForCreate?(object: T, write: WriteContext): T;
  /** For a write of the object itself: puts back what this path may not change (status). */
  prepareForUpdate?(next: T, previous: T, write: WriteContext): T;
  /** Whether the change is one of what is wanted, so that `metadata.generation` grows. Absent: the kind has no generation. */
  changesGeneration?(next: T, previous: T): boolean;

  // ── validation; metadata is checked by the machine ──
  /** Finalizers without a domain may be called anything (custom resources, and a few kinds that upstream checks less). Default: only the standard ones. */
  readonly allowsPlainFinalizers?: boolean;
  /** The metadata of a new object is looked at only if nothing else is wrong with it, as upstream does with a few kinds. */
  readonly checksMetadataLast?: true;
  /** How a name is made of `generateName`. Default: with five random characters behind it. */
  generatedName?(generateName: string): string;
  /** Why this object may not be deleted by name; undefined if it may. */
  refusesDeletion?(object: T): string | undefined;
  /** What a name must look like, as sentences of what is wrong. Default: a DNS subdomain. */
  validateName?(name: string): readonly string[];
  /** What must be true of every object. On update `previous` is given, for rules that only bind what changed. */
  validate?(object: T, previous?: T): Iterable<FieldError>;
  /** What may not change. Called in addition to `validate`. */
  validateUpdate?(next: T, previous: T): Iterable<FieldError>;
  /** Sentences for the `Warning` header. */
  warnings?(object: T, previous?: T): Iterable<string>;

  // ── reading ──
  /** Beyond metadata.name and metadata.namespace: the fields of field selectors. */
  readonly selectableFields: SelectableFields<T>;
  /** Those of `selectableFields` that are asked for so often that a map is kept for each. */
  readonly indexedFields?: readonly string[];
  /** All of them, in order: Name and Age too (machinery/columns.ts has those that many kinds share). */
  readonly columns: readonly Column<T>[];
  /** In which order a list's table shows its rows. Default: that of the list. */
  tableOrder?(a: T, b: T): number;
  /** What a table row says beyond its cells (Pod: Completed). */
  rowConditions?(
    object: T,
  ): readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

/** Who writes, and when, for the few kinds that record it (CertificateSigningRequest). */
export interface WriteContext {
  readonly user: {
    readonly name: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly nowMs: number;
}

/** Field selectors by path, and how their value is read. Written as a method's type, so that a Resource<Pod> is also a Resource. */
export type SelectableFields<T extends KubeObject> = Readonly<Record<string, { read(object: T): string }["read"]>>;

/** One group and version under which a kind is served. */
export interface ServedVersion<T extends KubeObject = KubeObject> extends GroupVersion {
  /** The OpenAPI name of its type: "io.k8s.api.apps.v1.Deployment". */
  readonly schema: string;
  /** A sentence for everybody who uses it, whatever for. */
  readonly deprecation?: string;
  /** Fills in what was left out, on the way in. Called after decoding, and again after mutating admission. */
  defaults?(object: KubeObject): KubeObject;
  /** Absent: it is the storage version, or differs from it in nothing but its name. */
  toStorage?(object: KubeObject): T;
  fromStorage?(object: T): KubeObject;
  /** For a version with rules of its own, in the place of the resource's `validate` and `validateUpdate`. */
  validate?(object: T, previous?: T): Iterable<FieldError>;
  /** Overrides the resource's own. */
  readonly selectableFields?: SelectableFields<T>;
}

export type Subresource<T extends KubeObject = KubeObject> =
  /** The object itself, of which this path may write a part: status, ephemeralcontainers, resize, finalize, approval. */
  | {
      readonly of: "object";
      readonly verbs: readonly Verb[];
      /** Takes the part that this path may write from `next`, everything else from `previous`. */
      prepareForUpdate(next: T, previous: T, write: WriteContext): T;
      /** What nobody comes to own by writing here. Default: `spec` for the path "status", `status` for others. */
      readonly ignoredFields?: IgnoredFields;
      /** Called instead of the resource's `validate` and `validateUpdate`. */
      validateUpdate?(next: T, previous: T): Iterable<FieldError>;
      /** Called instead of the resource's `warnings`. */
      warnings?(next: T, previous: T): Iterable<string>;
    }
  /** autoscaling/v1 Scale: how many there should be. The paths are for field ownership. */
  | {
      readonly of: "scale";
      readonly verbs: readonly Verb[];
      readonly replicasPath: readonly string[];
      read(object: T): { readonly specReplicas: number; readonly statusReplicas: number; readonly selector: string };
      write(object: T, replicas: number): T;
    }
  /** An object of another kind is sent here to make something happen (Binding, Eviction): apiserver/resources/<kind> does it. */
  | { readonly of: "action"; readonly verbs: readonly Verb[]; readonly takes: TakenKind }
  /** A way to where the object runs (log, exec, attach, portforward, proxy): apiserver/connections says where that is. */
  | {
      readonly of: "connection";
      /** What one may be allowed to do here; each is a method (get: GET, create: POST, …). */
      readonly verbs: readonly Verb[];
      /** What the query of a request says, as a type: one parameter per field. */
      readonly options: GroupVersionKind & { readonly schema: string };
      validateOptions?(options: JsonObject): Iterable<FieldError>;
      /** Hands requests on to an HTTP server: with any method, and with whatever path stands behind. */
      readonly forwards?: true;
      /** Answers with text (log). Documents show it as a way to read the object itself. */
      readonly answersText?: true;
      /** By whatever method one comes, this must be allowed, too: a WebSocket begins with a GET, but what it does is no reading. */
      readonly alsoNeeds?: Verb;
    };

export interface TakenKind extends GroupVersionKind {
  readonly schema: string;
  /** Versions in which the same may be sent, though they are served nowhere. */
  readonly olderVersions?: readonly string[];
  /** Maximum body size. Absent: that of all actions (apiserver/limits/body-limits.ts). */
  readonly bodyBytesMax?: number;
}

export type CellValue = string | number | boolean | null;

export interface Column<T extends KubeObject = KubeObject> {
  /** As upstream writes it ("Cluster-IP"); kubectl makes it upper case. */
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description: string;
  /** 0: always shown; 1: only with `-o wide`. */
  readonly priority: 0 | 1;
  value(object: T, context: { readonly nowMs: number }): CellValue;
}

/** A kind with what most kinds have in common filled in. */
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
