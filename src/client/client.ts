/**
 * The contract of a typed REST client, independent of the transport (api/machinery/transport.ts): one method per verb, typed by the kind
 * that is passed. Every failure is a StatusError (api/machinery/status-error.ts); use `isReason(error, "Conflict")` to distinguish them.
 * Returned objects are shared and must not be modified: copy to change. (Within one process they are also frozen where the server freezes,
 * as in tests.) Types only; rest-client.ts implements them.
 */
import type { Cause } from "../api/machinery/cause.ts";
import type { GroupVersion, Json, JsonObject, KubeObject, ListMeta } from "../api/machinery/object.ts";
import type { Verb, WriteContext } from "../api/machinery/resource.ts";
import type { PatchType, RequestOptions, TransportEvent, TransportWatch } from "../api/machinery/transport.ts";

/**
 * Identifies a resource and carries the type of its objects. Every resource of api/ is one (`pods`, `deployments`); for a custom kind it is
 * a plain value: `const widgets: ResourceKind<Widget> = { kind: "Widget", plural: "widgets", scope: "Namespaced", storage: { group:
 * "example.com", version: "v1" } }`. For kinds known only at run time, discovery.ts creates them.
 */
export interface ResourceKind<T extends KubeObject = KubeObject> {
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  /** The group and version used in requests. */
  readonly storage: GroupVersion;
  /** Never called by a client: it carries the object type of a built-in kind. */
  prepareForCreate?(object: T, write: WriteContext): T;
}

/** Identifies an object of a kind. */
export interface ObjectKey {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object as a client writes it, before the server completes it. With `generateName` the server chooses the name. */
export type Draft<T extends KubeObject> = Omit<T, "metadata"> & { readonly metadata: Partial<T["metadata"]> };

export interface ObjectList<T extends KubeObject = KubeObject> {
  readonly items: readonly T[];
  readonly metadata: ListMeta;
}

/** Options of any call, besides those of its verb. */
export interface CallOptions {
  /** Cancels the request if aborted before the server has committed it. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions, Pick<RequestOptions, "resourceVersion" | "labelSelector" | "metricLabelSelector"> {
  /** A subresource of the object: "status", "scale". The caller states its type. */
  readonly subresource?: string;
}

export interface SelectOptions
  extends CallOptions, Pick<RequestOptions, "labelSelector" | "fieldSelector" | "resourceVersion" | "resourceVersionMatch"> {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
}

export interface ListOptions extends SelectOptions, Pick<RequestOptions, "limit" | "continue" | "timeoutSeconds"> {}

export interface WatchOptions extends SelectOptions, Pick<RequestOptions, "timeoutSeconds" | "allowWatchBookmarks" | "sendInitialEvents"> {}

/** As in the transport, with objects of the watched kind. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | Exclude<TransportEvent, { readonly object: KubeObject }>;

export interface WatchListener<T extends KubeObject = KubeObject> {
  /** Called in order. Must not throw. */
  event(event: WatchEvent<T>): void;
  /** Called exactly once, last: after an ERROR, or when the server ends the watch. Resume from the last resourceVersion seen. */
  ended(): void;
}

export interface WriteOptions extends CallOptions, Pick<RequestOptions, "dryRun" | "fieldManager" | "fieldValidation"> {
  /** Writes only this subresource: "status", "scale", "approval". */
  readonly subresource?: string;
}

export interface Patch {
  readonly type: Exclude<PatchType, "apply">;
  readonly value: Json;
}

export interface ApplyOptions extends Omit<WriteOptions, "fieldManager"> {
  /** Field manager that owns the applied fields. */
  readonly fieldManager: string;
  /** Takes over fields that other managers own; otherwise that is a Conflict. */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions, Pick<RequestOptions, "dryRun" | "gracePeriodSeconds"> {
  /** What happens to dependents. Absent: the default of the kind. */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /** Preconditions; if they do not hold, the request fails with Conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** One per program, or per identity that it uses. */
export interface Client {
  /** Rejects with NotFound if the object does not exist. */
  get<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey, options?: ReadOptions): Promise<T>;
  /** A single response: all objects, or one page if a limit is set. */
  list<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /** All objects, page by page (`limit`, default 500), from one consistent revision. */
  pages<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): AsyncIterable<ObjectList<T>>;
  /** Raw changes until one side ends the watch. To keep a local copy, use an informer, which resumes. */
  watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions, listener: WatchListener<T>): Promise<TransportWatch>;

  /** In `object.metadata.namespace`. Rejects with AlreadyExists if the name is taken. */
  create<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options?: Omit<WriteOptions, "subresource">): Promise<T>;
  /** Rejects with Conflict if the object was changed since `object` was read: read again and decide again. */
  update<T extends KubeObject>(kind: ResourceKind<T>, object: T, options?: WriteOptions): Promise<T>;
  /** The same for `status`. */
  updateStatus<T extends KubeObject>(kind: ResourceKind<T>, object: T, options?: Omit<WriteOptions, "subresource">): Promise<T>;
  patch<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply: sets these fields and makes the manager their owner; all other fields stay. */
  apply<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options: ApplyOptions): Promise<T>;
  /**
   * Resolves when the server has accepted the deletion; the object may remain until its finalizers are removed. Resolves with the object if
   * the response contains it (it is terminating, or the kind returns it), undefined if it was removed.
   */
  delete<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(kind: ResourceKind<T>, options?: SelectOptions & DeleteOptions): Promise<void>;

  /** Posts an object of another kind to a subresource: Eviction, Binding, TokenRequest. Resolves with the response. */
  post<T extends KubeObject>(
    kind: ResourceKind<T>,
    key: ObjectKey,
    subresource: string,
    value: JsonObject,
    options?: Omit<WriteOptions, "subresource">,
  ): Promise<JsonObject>;

  /** Any JSON document of the server: "/version", "/apis". Rejects for plain text such as "/healthz" and "/metrics". */
  document(path: string, options?: CallOptions): Promise<JsonObject>;

  /** A client that adds these options to every request. Signals combine: an earlier signal still aborts. */
  with(defaults: ClientDefaults): Client;
}

export interface ClientOptions {
  /**
   * Receives every warning of every response, before the call resolves: deprecated versions, unknown fields. Deduplicating is up to the
   * callee. Must not throw. Default: warnings are dropped.
   */
  onWarning?(sentence: string, about: WarningAbout): void;
}

/** The request that caused the warning. */
export interface WarningAbout {
  readonly kind: ResourceKind;
  readonly verb: Verb;
}

export interface ClientDefaults {
  readonly cause?: Cause;
  readonly signal?: AbortSignal;
  readonly fieldManager?: string;
  /** W3C trace context. */
  readonly traceparent?: string;
}
