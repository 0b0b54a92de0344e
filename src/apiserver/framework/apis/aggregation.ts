/**
 * The contract of aggregation: groups and versions that another API server serves, registered by an APIService with a Service. Requests for
 * them are forwarded after authentication and authorization; discovery and OpenAPI merge their documents with the server's own.
 * apiserver/aggregation implements it, apiserver/http the connections (RemoteConnector).
 */
import type { GroupVersion, JsonObject } from "../../../api/machinery/object.ts";
import type { ExchangeAnswer, SwitchOffer } from "../exchange.ts";
import type { AccessAttributes } from "../authorization.ts";
import type { FlowRequest } from "../flow-request.ts";
import type { RequestContext, User } from "../request.ts";

export interface Aggregation {
  /** The other server of a group and version; undefined: this server serves it, or none does. Hot path: called per request. */
  remote(group: string, version: string): RemoteApi | undefined;
  all(): Iterable<RemoteApi>;
  /** Of APIServices of users without a Service: plain discovery lists them, even if this server does not serve them. */
  local(): Iterable<GroupVersion>;
  /** Order of a group and version in discovery, whichever server serves it. */
  priorityOf(place: GroupVersion): ApiPriority;
  /** Calls back after each change of routes, priorities or documents. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** Of a server without other API servers. */
export const NO_AGGREGATION: Aggregation = {
  remote: () => undefined,
  all: () => [],
  local: () => [],
  priorityOf: () => ({ group: 0, version: 0 }),
  onChange: () => () => undefined,
};

/** Higher comes first. */
export interface ApiPriority {
  readonly group: number;
  readonly version: number;
}

/** One group and version of another API server. */
export interface RemoteApi extends GroupVersion {
  readonly discovery: RemoteDiscovery;
  /** Its part of the OpenAPI v2 document, if it has one: `paths` below its own path, and the definitions that they use. */
  readonly openApiV2: JsonObject | undefined;
  /** Its OpenAPI v3 documents by the path below /openapi/v3/, with the relative URL that clients cache them by. */
  readonly openApiV3: ReadonlyMap<string, string>;
  /** Never rejects because of the other server: an unavailable one is an answer, too. Rejects with the signal's reason. */
  forward(request: RemoteRequest): Promise<ExchangeAnswer>;
}

/** Its part of aggregated discovery. */
export interface RemoteDiscovery {
  /** "Stale": the server could not be asked; `resources` is then empty. */
  readonly freshness: "Current" | "Stale";
  readonly resources: readonly JsonObject[];
}

/** A request for another server as it passes the pipeline: authorization, the body, a seat, then `forward`. */
export interface ForwardedRequest extends FlowRequest {
  readonly access: AccessAttributes;
  readonly context: RequestContext;
  forward(body: Uint8Array | undefined): Promise<ExchangeAnswer>;
}

/** A request whose user is known and allowed to send it. */
export interface RemoteRequest {
  readonly user: User;
  readonly method: string;
  /** Percent-encoded, with its query. */
  readonly target: string;
  /** As received: those about the user and the connection are replaced. Lower case. */
  readonly headers: RemoteHeaders;
  readonly body?: Uint8Array;
  /** Set if the client requests a protocol upgrade; only then the answer may be a tunnel. */
  readonly switching?: SwitchOffer;
  /** Aborted when the client disconnects before it was answered, or when its time is over. */
  readonly signal: AbortSignal;
}

export type RemoteHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Connections to other API servers. */
export interface RemoteConnector {
  /** Resolves when the other server has begun to respond. Rejects with an error in Go's words, or with the signal's reason. */
  send(call: RemoteCall): Promise<ExchangeAnswer>;
}

export interface RemoteCall extends Omit<RemoteRequest, "user"> {
  /** An address or a name. */
  readonly host: string;
  readonly port: number;
  /** The name that its certificate must have. */
  readonly serverName: string;
  /** The CAs (PEM) that vouch for it; absent: the machine's. */
  readonly authorities?: string;
  /** Its certificate is not verified. */
  readonly isInsecure: boolean;
}
