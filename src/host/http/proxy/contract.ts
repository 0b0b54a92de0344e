/**
 * Contract of the reverse proxy: a request comes in, its handler decides, the proxy replies or forwards it to one endpoint after the other.
 * Decisions are values: no text of a request or of a configuration is ever evaluated. Types only; proxy-server.ts starts it.
 */

/** The head of a request. */
export interface ProxyRequest {
  readonly method: string;
  /** Host of the request, lower case, without port. "": the client named none. */
  readonly host: string;
  /** As received, still percent-encoded, without the query. Begins with a slash. */
  readonly path: string;
  /** With its question mark; "" without a query. */
  readonly query: string;
  readonly isTls: boolean;
  /** "1.0", "1.1" or "2.0". */
  readonly version: string;
  readonly peerAddress: string;
  /** One header by its lower-case name. */
  header(name: string): string | undefined;
}

export interface ProxyEndpoint {
  readonly address: string;
  readonly port: number;
}

/** Protocol of the endpoint: HTTP/1.1, HTTP/1.1 over TLS, or HTTP/2 without TLS (gRPC). */
export type ProxyProtocol = "http" | "https" | "h2c";

/** Shared by all requests of a route. */
export interface ForwardPolicy {
  readonly protocol: ProxyProtocol;
  /** Until the connection to the endpoint is established. */
  readonly connectTimeoutMs: number;
  /** Without progress until the head of the answer. */
  readonly responseTimeoutMs: number;
  /** Without progress after the head of the answer, upgraded connections included. */
  readonly idleTimeoutMs: number;
  /** Of a request. 0: no limit. */
  readonly bodyBytesMax: number;
  /** Endpoints that are tried, the first included. */
  readonly attemptsMax: number;
}

/** An answer of the proxy itself. */
export interface ProxyReply {
  readonly is: "reply";
  readonly status: number;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body: string;
  /** The handler's, for its record. */
  readonly route?: string;
}

export interface ProxyForward {
  readonly is: "forward";
  /** The handler's, for its record. */
  readonly route?: string;
  /** Path and query for the endpoint. */
  readonly target: string;
  readonly policy: ForwardPolicy;
  /** The endpoint to try next. Undefined: all were tried, or no endpoint exists. */
  next(): ProxyEndpoint | undefined;
  /** The endpoint sent the head of an answer. */
  answered(endpoint: ProxyEndpoint): void;
  /** Connecting failed, or the connection ended before the head of the answer. */
  failed(endpoint: ProxyEndpoint): void;
  /** Headers that the proxy adds to the endpoint's answer: names and values, alternating. */
  answerHeaders(endpoint: ProxyEndpoint): readonly string[];
}

export type ProxyDecision = ProxyReply | ProxyForward;

/** A request that is over. */
export interface ProxyRecord {
  readonly request: ProxyRequest;
  readonly decision: ProxyDecision;
  readonly requestId: string;
  /** 499: the client disconnected before the head of an answer. */
  readonly status: number;
  /** Of the answer's body. */
  readonly sentBytes: number;
  readonly durationMs: number;
  /** The last one that was tried. */
  readonly endpoint: ProxyEndpoint | undefined;
  readonly attempts: number;
  /** False: the answer was cut off. */
  readonly isComplete: boolean;
}

export interface ProxyHandler {
  /** Called for every request. Must not throw and must not wait. */
  decide(request: ProxyRequest): ProxyDecision;
  /** Called once for every request. Must not throw. */
  finished(record: ProxyRecord): void;
}
