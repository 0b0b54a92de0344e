/**
 * One request for an object or a list of them, as plain values: what is left of an HTTP request once its path and query are
 * understood, and what an in-process client hands over as it is. Everything after this point is the same for both.
 */
import type { Cause } from "../../api/machinery/cause.ts";
import type { ExactJson } from "../../api/machinery/codec/json-parser.ts";
import type { ParsedYaml } from "../../api/machinery/codec/yaml/reader.ts";
import type { Leadership } from "../../api/machinery/leadership.ts";
import type { Json, JsonObject } from "../../api/machinery/object.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import type { PatchType, RequestOptions } from "../../api/machinery/transport.ts";
import type { ExchangeRequest, SwitchOffer, UpgradeOffer } from "./exchange.ts";

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type RequestBody =
  /** As it came over the wire; what it is, its media type says. */
  | {
      readonly form: "bytes";
      readonly bytes: Uint8Array;
      readonly contentType: string;
      /** Of a large body: lets others run between slices of work (large-bodies.ts). */
      readonly breathe?: () => Promise<void>;
      /** Of a large body: what its bytes mean (write/parse-large.ts). */
      readonly parsed?: ParsedBytes;
    }
  /** From this process: frozen, not serialised. */
  | { readonly form: "object"; readonly object: JsonObject }
  | { readonly form: "patch"; readonly type: PatchType; readonly patch: Json };

export type ParsedBytes =
  /** Guided: without members that the kind does not know, which are among the mistakes. */
  | { readonly as: "json"; readonly json: ExactJson; readonly isGuided: boolean }
  | { readonly as: "yaml"; readonly yaml: ParsedYaml }
  | { readonly as: "error"; readonly error: Error };

export interface ApiRequest {
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  /** The resource in the path. */
  readonly plural: string;
  /** "" if the object itself is meant. */
  readonly subresource: string;
  /** "" for all namespaces and for what is not in one. */
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  readonly options: RequestOptions;
  readonly body?: RequestBody;
  /** Of subresources that are connections: how the request came. */
  readonly connection?: ConnectionRequest;
  readonly context: RequestContext;
}

/** The HTTP side of a request for a connection. */
export interface ConnectionRequest {
  readonly exchange: ExchangeRequest;
  /** The path behind the subresource, decoded, beginning with a slash; "" if there is not even that. */
  readonly path: string;
  readonly offer?: UpgradeOffer;
  readonly switching?: SwitchOffer;
}

export interface RequestContext {
  readonly user: User;
  /** Aborted when nobody waits for the answer any more. Looked at until the commit, never after. */
  readonly signal?: AbortSignal;
  /** From a part of this process, which bounds by itself how much it asks for at once. */
  readonly isInProcess?: true;
  /** Names the field manager if the request does not. */
  readonly userAgent: string;
  /** W3C trace context, carried along to whoever is called because of this request. */
  readonly traceparent?: string;
  /** Whoever asks acts only while leading (header `k8ts-leadership`). */
  readonly leadership?: Leadership;
  /** Why the caller asks: the object and decision that made it (header `k8ts-cause`). */
  readonly cause?: Cause;
  /** Sentences for the `Warning` header. Adds one, in the order of being found. */
  warn(sentence: string): void;
}

export function isDryRun({ dryRun = [] }: RequestOptions): boolean {
  return dryRun.length > 0;
}
