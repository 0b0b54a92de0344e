/**
 * One request for an object or a list, as plain values: what remains of an HTTP request once its path and query are parsed, and what an
 * in-process client passes directly. Everything after this point is the same for both.
 */
import type { CancelSignal } from "../../base/abort.ts";
import type { Cause } from "../../api/machinery/cause.ts";
import type { ExactJson } from "../../api/machinery/codec/json-parser.ts";
import type { ParsedYaml } from "../../api/machinery/codec/yaml/reader.ts";
import type { Leadership } from "../../api/machinery/leadership.ts";
import type { Json, JsonObject } from "../../api/machinery/object.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import type { PatchType, RequestOptions } from "../../api/machinery/transport.ts";
import type { ExchangeRequest, SwitchOffer, UpgradeOffer } from "./exchange.ts";
import type { RequestTrail } from "./recording/request-trail.ts";

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type RequestBody =
  /** As received; its media type defines the encoding. */
  | {
      readonly form: "bytes";
      readonly bytes: Uint8Array;
      readonly contentType: string;
      /** For a large body: yields to other requests between slices of work (large-bodies.ts). */
      readonly yieldLoop?: () => Promise<void>;
      /** For a large body: decodes it (write/parse-large.ts). */
      readonly parsed?: ParsedBytes;
    }
  /** From this process: frozen, not serialised. */
  | { readonly form: "object"; readonly object: JsonObject }
  | { readonly form: "patch"; readonly type: PatchType; readonly patch: Json };

export type ParsedBytes =
  /** Decoded by the schema: without unknown fields, which are among the reported mistakes. */
  | { readonly as: "json"; readonly json: ExactJson; readonly isGuided: boolean }
  | { readonly as: "yaml"; readonly yaml: ParsedYaml }
  | { readonly as: "error"; readonly error: Error };

export interface ApiRequest {
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  /** The resource in the path. */
  readonly plural: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** "" for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  readonly options: RequestOptions;
  readonly body?: RequestBody;
  /** For subresources that are connections: the HTTP side of the request. */
  readonly connection?: ConnectionRequest;
  readonly context: RequestContext;
}

/** The HTTP side of a request for a connection. */
export interface ConnectionRequest {
  readonly exchange: ExchangeRequest;
  /** The path after the subresource, decoded, beginning with a slash; "" if none exists. */
  readonly path: string;
  readonly offer?: UpgradeOffer;
  readonly switching?: SwitchOffer;
}

export interface RequestContext {
  readonly user: User;
  /** Aborted when the client no longer waits for the response. Checked until the commit, never after. */
  readonly signal?: CancelSignal;
  /** From a component in this process, which bounds its own concurrency. */
  readonly isInProcess?: true;
  /** The default field manager is derived from it. */
  readonly userAgent: string;
  /** W3C trace context, propagated to servers that are called because of this request. */
  readonly traceparent?: string;
  /** The lease that the caller must hold (header `k8ts-leadership`). */
  readonly leadership?: Leadership;
  /** Why the caller sends it: the object and decision that caused it (header `k8ts-cause`, of trusted components only). */
  readonly cause?: Cause;
  /** Collects what happens to the request. Absent for the server's own requests and reads of this process. */
  readonly trail?: RequestTrail;
  /** Adds a message for the `Warning` header, in the order of detection. */
  warn(sentence: string): void;
}

export function isDryRun({ dryRun = [] }: RequestOptions): boolean {
  return dryRun.length > 0;
}
