/**
 * The contract between a client and an API server, whatever is between them: nothing (one process: frozen objects, no serialisation) or
 * HTTPS. A client is given a transport and cannot tell which it is. Every failure is a StatusError.
 */
import type { Cause } from "./cause.ts";
import type { Leadership } from "./leadership.ts";
import type { Json, JsonObject, KubeObject, ListMeta } from "./object.ts";
import type { Verb } from "./resource.ts";
import type { StatusError } from "./status-error.ts";

/** Options of all verbs, with the names and meanings of upstream's query parameters. */
export interface RequestOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  /** "All": everything happens but the write. */
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
  readonly force?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface TransportRequest {
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource?: string;
  /** Absent: all namespaces, or an object of the cluster. */
  readonly namespace?: string;
  readonly name?: string;
  readonly options?: RequestOptions;
  /**
   * For create and update: the object. For delete: DeleteOptions. The server never changes it; in one process what was not given its
   * defaults becomes part of the object that everybody shares, so who hands it over does not change it any more.
   */
  readonly object?: JsonObject;
  readonly patch?: { readonly type: PatchType; readonly value: Json };
  /** Given up if it is aborted before the server has committed. */
  readonly signal?: AbortSignal;
  /** W3C trace context, handed on. */
  readonly traceparent?: string;
  /** The server writes only if whoever asks still leads; otherwise it is a Conflict. Other servers than this one's do not look at it. */
  readonly leadership?: Leadership;
  /** Why this is asked: who decided it, looking at what. */
  readonly cause?: Cause;
}

export type TransportResponse =
  | { readonly is: "object"; readonly object: KubeObject; readonly created: boolean; readonly warnings: readonly string[] }
  | { readonly is: "list"; readonly items: readonly KubeObject[]; readonly metadata: ListMeta; readonly warnings: readonly string[] }
  /** A Status, a Scale, a review. */
  | { readonly is: "value"; readonly value: JsonObject; readonly warnings: readonly string[] };

export type TransportEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: "ERROR"; readonly error: StatusError };

export interface TransportWatchListener {
  /** In order. In one process it is called before the write that it tells of is answered. Must not throw. */
  event(event: TransportEvent): void;
  /** Called exactly once, last. After an ERROR, or when the server ends the watch: come back with the last version seen. */
  ended(): void;
}

export interface TransportWatch {
  /** Ends it; `ended` is called. A second call does nothing. */
  stop(): void;
}

export interface Transport {
  /**
   * All verbs but watch. Rejects with a StatusError: one that the server answered with, or, if it is not known whether the server did
   * what was asked (no connection, an answer that was cut), one of reason "ServiceUnavailable" whose `cause` is what went wrong.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** What the server answers beside resources, as JSON: discovery ("/apis/apps/v1"), "/version". Rejects with a StatusError. */
  document(path: string, options?: { readonly signal?: AbortSignal }): Promise<JsonObject>;
  /** Resolves when the watch is accepted; nothing is heard before. Rejects with a StatusError. */
  watch(request: Omit<TransportRequest, "verb">, listener: TransportWatchListener): Promise<TransportWatch>;
}
