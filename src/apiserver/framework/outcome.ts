/**
 * The result of a verb, before it is encoded: the HTTP transport encodes it in the media type that the client accepts, the in-process
 * transport returns the objects themselves.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { Column } from "../../api/machinery/resource.ts";
import type { Endpoint } from "./endpoints.ts";
import type { ExchangeAnswer } from "./exchange.ts";
import type { WatchStart } from "./watch.ts";
import type { StoredObject } from "./storage/storage.ts";

export type Outcome =
  | { readonly is: "object"; readonly code: 200 | 201 | 202; readonly endpoint: Endpoint; readonly object: StoredObject }
  | { readonly is: "list"; readonly endpoint: Endpoint; readonly list: ObjectList }
  | { readonly is: "watch"; readonly endpoint: Endpoint; readonly watch: WatchStart }
  /** Bytes from another server, or a WebSocket to it. */
  | { readonly is: "connection"; readonly answer: ExchangeAnswer }
  /** A non-resource path: discovery, OpenAPI, health, metrics, version. */
  | { readonly is: "document"; readonly answer: ExchangeAnswer }
  /** Anything that is not stored: a Status, a Scale, a review. `schema` is the OpenAPI name of its type. */
  | {
      readonly is: "value";
      readonly code: 200 | 201;
      readonly schema: string;
      readonly value: JsonObject;
      /** Its table form, if it has one. */
      readonly columns?: readonly Column[];
    };

export interface ObjectList {
  readonly objects: readonly StoredObject[];
  readonly revision: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** An object of a kind that is not stored. */
export function answered({ served }: Endpoint, object: object): Outcome {
  return { is: "value", code: 201, schema: served.schema, value: object as JsonObject };
}

const STATUS_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

/** Status Success, for actions that return nothing else. */
export function success(code: 200 | 201): Extract<Outcome, { readonly is: "value" }> {
  const value: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code };
  return { is: "value", code, schema: STATUS_SCHEMA, value };
}
