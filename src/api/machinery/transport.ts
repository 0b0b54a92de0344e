/**
 * The contract between a client and an API server, either in one process (frozen objects, no serialization) or over HTTPS. A client is
 * given a transport and cannot distinguish the two. Every failure is a StatusError.
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
  /** "All": dry run; everything but the write is executed. */
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
  readonly force?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
  /** Of the custom metrics API: selects series of a metric. */
  readonly metricLabelSelector?: string;
}

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface TransportRequest {
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource?: string;
  /** Absent: all namespaces, or a cluster-scoped object. */
  readonly namespace?: string;
  readonly name?: string;
  readonly options?: RequestOptions;
  /**
   * For create and update: the object. For delete: DeleteOptions. The server never modifies it; in one process unchanged parts become part
   * of the shared object, so the caller must not modify it afterwards.
   */
  readonly object?: JsonObject;
  readonly patch?: { readonly type: PatchType; readonly value: Json };
  /** Cancels the request if aborted before the server has committed. */
  readonly signal?: AbortSignal;
  /** W3C trace context, propagated. */
  readonly traceparent?: string;
  /** Fencing: the server writes only while the caller holds this Lease, and returns a Conflict otherwise. Other servers ignore it. */
  readonly leadership?: Leadership;
  /** Cause of the write: which component decided it, about which object. */
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
  /** Called in order. In one process it is called before the response to the write. Must not throw. */
  event(event: TransportEvent): void;
  /** Called exactly once, last: after an ERROR, or when the server ends the watch. Resume from the last resourceVersion seen. */
  ended(): void;
}

export interface TransportWatch {
  /** Ends the watch; `ended` is called. Idempotent. */
  stop(): void;
}

export interface Transport {
  /**
   * All verbs but watch. Rejects with a StatusError: the server's, or, if it is unknown whether the server executed the request (no
   * connection, a truncated response), one with reason "ServiceUnavailable" whose `cause` is the original error.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Fetches a non-resource path as JSON: discovery ("/apis/apps/v1"), "/version". Rejects with a StatusError. */
  document(path: string, options?: { readonly signal?: AbortSignal }): Promise<JsonObject>;
  /** Resolves when the watch is accepted; no event is delivered before. Rejects with a StatusError. */
  watch(request: Omit<TransportRequest, "verb">, listener: TransportWatchListener): Promise<TransportWatch>;
}
