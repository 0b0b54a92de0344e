/**
 * How a program asks the API, whatever is between them (api/machinery/transport.ts): one method per verb, typed by the kind it is given.
 * Every failure is a StatusError (api/machinery/status-error.ts); `isReason(error, "Conflict")` tells them apart.
 * What comes out is shared, so it is never changed: to change is to copy. (In one process it is also frozen where the server freezes, as in
 * tests.) Only types and words are here; rest-client.ts does it.
 */
import type { Cause } from "../api/machinery/cause.ts";
import type { GroupVersion, Json, JsonObject, KubeObject, ListMeta } from "../api/machinery/object.ts";
import type { Verb, WriteContext } from "../api/machinery/resource.ts";
import type { PatchType, RequestOptions, TransportEvent, TransportWatch } from "../api/machinery/transport.ts";

/**
 * Which objects are meant, and of which type they are. Every resource of api/ is one (`pods`, `deployments`); for a kind of one's own
 * it is a plain value: `const widgets: ResourceKind<Widget> = { kind: "Widget", plural: "widgets", scope: "Namespaced", storage: { group:
 * "example.com", version: "v1" } }`. Of kinds that are known only at run time discovery.ts makes them.
 */
export interface ResourceKind<T extends KubeObject = KubeObject> {
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  /** The group and version in which it is asked for. */
  readonly storage: GroupVersion;
  /** Never called by a client: it is where a built-in kind says of which type its objects are. */
  prepareForCreate?(object: T, write: WriteContext): T;
}

/** Which object of a kind. */
export interface ObjectKey {
  /** Absent for what is not in a namespace. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object as a client writes it: the server has yet to fill the rest. A name may be left to the server with `generateName`. */
export type Draft<T extends KubeObject> = Omit<T, "metadata"> & { readonly metadata: Partial<T["metadata"]> };

export interface ObjectList<T extends KubeObject = KubeObject> {
  readonly items: readonly T[];
  readonly metadata: ListMeta;
}

/** What any call may be told beside the options of its verb. */
export interface CallOptions {
  /** Given up if it is aborted before the server has committed. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions, Pick<RequestOptions, "resourceVersion"> {
  /** Of a part of the object: "status", "scale". The type is then that part's, for the caller to say. */
  readonly subresource?: string;
}

export interface SelectOptions
  extends CallOptions, Pick<RequestOptions, "labelSelector" | "fieldSelector" | "resourceVersion" | "resourceVersionMatch"> {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
}

export interface ListOptions extends SelectOptions, Pick<RequestOptions, "limit" | "continue" | "timeoutSeconds"> {}

export interface WatchOptions extends SelectOptions, Pick<RequestOptions, "timeoutSeconds" | "allowWatchBookmarks" | "sendInitialEvents"> {}

/** The same as of the transport, with objects of the kind that is watched. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | Exclude<TransportEvent, { readonly object: KubeObject }>;

export interface WatchListener<T extends KubeObject = KubeObject> {
  /** In order. Must not throw. */
  event(event: WatchEvent<T>): void;
  /** Called exactly once, last. After an ERROR, or when the server ends the watch: come back with the last version seen. */
  ended(): void;
}

export interface WriteOptions extends CallOptions, Pick<RequestOptions, "dryRun" | "fieldManager" | "fieldValidation"> {
  /** Writes only this part of the object: "status", "scale", "approval". */
  readonly subresource?: string;
}

export interface Patch {
  readonly type: Exclude<PatchType, "apply">;
  readonly value: Json;
}

export interface ApplyOptions extends Omit<WriteOptions, "fieldManager"> {
  /** Who owns the fields from then on. */
  readonly fieldManager: string;
  /** Takes fields that others own; otherwise that is a Conflict. */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions, Pick<RequestOptions, "dryRun" | "gracePeriodSeconds"> {
  /** What happens to what it owns. Absent: as the kind does. */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /** Only if it is still this one; otherwise a Conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** One per program, or per identity of it. */
export interface Client {
  /** Rejects with NotFound if there is none. */
  get<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey, options?: ReadOptions): Promise<T>;
  /** One answer: all of them, or one page if there is a limit. */
  list<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /** All of them, a page at a time (`limit`, default 500), all as they were at one revision. */
  pages<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): AsyncIterable<ObjectList<T>>;
  /** The changes themselves, until one side ends it. Whoever wants to know what there is uses an informer, which survives the end. */
  watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions, listener: WatchListener<T>): Promise<TransportWatch>;

  /** In `object.metadata.namespace`. Rejects with AlreadyExists if there is one of that name. */
  create<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options?: Omit<WriteOptions, "subresource">): Promise<T>;
  /** Rejects with Conflict if it was changed since `object` was read: read it again and decide again. */
  update<T extends KubeObject>(kind: ResourceKind<T>, object: T, options?: WriteOptions): Promise<T>;
  /** The same for `status`. */
  updateStatus<T extends KubeObject>(kind: ResourceKind<T>, object: T, options?: Omit<WriteOptions, "subresource">): Promise<T>;
  patch<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply: these fields are to be so, and are the manager's; whatever else there is stays. */
  apply<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options: ApplyOptions): Promise<T>;
  /**
   * Resolves when the server has taken it; the object may stay until whoever holds it lets go. Resolves with the object if it is shown
   * in the answer (it stays for now, or the kind is one that shows it), undefined if it is gone.
   */
  delete<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(kind: ResourceKind<T>, options?: SelectOptions & DeleteOptions): Promise<void>;

  /** Sends something to a subresource that takes another kind: Eviction, Binding, TokenRequest. Resolves with what it answers. */
  post<T extends KubeObject>(
    kind: ResourceKind<T>,
    key: ObjectKey,
    subresource: string,
    value: JsonObject,
    options?: Omit<WriteOptions, "subresource">,
  ): Promise<JsonObject>;

  /** Any document of the server that is JSON: "/version", "/apis". Rejects if it is text, as "/healthz" and "/metrics" are. */
  document(path: string, options?: CallOptions): Promise<JsonObject>;

  /** The same client, every one of whose requests says so. Signals add up: what was given before can still be aborted by it. */
  with(defaults: ClientDefaults): Client;
}

export interface ClientOptions {
  /**
   * Told each sentence that the server warns with in an answer, every time it does, before the call resolves: of an old version of a kind, a
   * field that does not exist. Whoever wants each only once remembers them. Must not throw. Default: nobody is told.
   */
  onWarning?(sentence: string, about: WarningAbout): void;
}

/** What was asked for when the server warned. */
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
