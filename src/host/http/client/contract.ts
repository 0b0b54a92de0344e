/**
 * Contract of an HTTP client for one server: requests and responses over HTTP/1.1 or HTTP/2, with or without a proxy. An error status is a
 * response like any other; only an incomplete response is an error. Types only; pool.ts implements it. Requests are never retried here:
 * whether that is safe depends on their meaning.
 */

export interface HttpClientRequest {
  /** Upper case. */
  readonly method: string;
  /** With its query, percent-encoded, beginning with a slash. */
  readonly path: string;
  /** Names are lower case. Not among them: host, content-length, and what belongs to the connection. */
  readonly headers: HttpClientHeaders;
  readonly body?: string;
  /** Cancels it: until the whole body was read, or, where it is streamed, until the head was received. */
  readonly signal?: AbortSignal;
}

export type HttpClientHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The receiver calls one of its functions, each at most once. */
export interface HttpClientAnswer {
  readonly code: number;
  /** By its lower-case name; several of one name joined with ", ". */
  header(name: string): string | undefined;
  /** The whole body, decompressed. Rejects with an HttpClientError if it was truncated. */
  body(): Promise<Uint8Array>;
  /** Streams the body, decompressed. */
  stream(listener: HttpStreamListener): void;
  /** Aborts it; a stream is notified. */
  abort(): void;
}

export interface HttpStreamListener {
  piece(bytes: Uint8Array): void;
  /** Called exactly once, last. With an error if the body was truncated. */
  ended(error?: HttpClientError): void;
}

export interface HttpClient extends AsyncDisposable {
  /** Resolves when the response head was received. Rejects with an HttpClientError, or with the signal's reason. */
  send(request: HttpClientRequest): Promise<HttpClientAnswer>;
  /** New requests use new connections; existing ones end with their requests. For changed certificates. */
  renew(): void;
}

/**
 * State of a request without a complete response. "unconnected": nothing reached the server; "unprocessed": the server reported that it did
 * not process it, or it was never sent; "lost": the connection ended, and the server may have processed it; "late": the connection may be
 * intact, and the server may still be processing it.
 */
export type LossKind = "unconnected" | "unprocessed" | "lost" | "late";

/** There was no complete response. */
export class HttpClientError extends Error {
  override readonly name = "HttpClientError";
  readonly loss: LossKind;

  constructor(loss: LossKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.loss = loss;
  }
}

/** Connecting timed out. */
export class ConnectTimeout extends Error {
  override readonly name = "TimeoutError";
}

/** TLS settings of new connections. PEM. */
export interface ClientTls {
  /** Default: the CAs that the machine trusts. */
  readonly authorities?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must have, if it is not that of the address. */
  readonly serverName?: string | undefined;
  /** Skips the verification of the server's certificate. */
  readonly isInsecure?: boolean | undefined;
}

/** All are configurable, mostly for tests. */
export interface HttpClientLimits {
  /** From the first packet to the end of the TLS handshake, a proxy's part included. */
  readonly connectTimeoutMs: number;
  /** From sending the request to the response head. */
  readonly answerTimeoutMs: number;
  /** HTTP/2: interval of keepalive pings. */
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  /** Idle timeout of a connection. */
  readonly idleTimeoutMs: number;
  /** Further requests wait until a running one ends. */
  readonly connectionsMax: number;
}

export const DEFAULT_CLIENT_LIMITS: HttpClientLimits = {
  connectTimeoutMs: 30_000,
  // API servers time out after a minute themselves, and report it.
  answerTimeoutMs: 90_000,
  // Both as upstream's clients.
  pingIntervalMs: 30_000,
  pingTimeoutMs: 15_000,
  // Shorter than the server's (90 s), so that no request uses a connection that is just being closed.
  idleTimeoutMs: 60_000,
  // On HTTP/1.1 each watch takes one.
  connectionsMax: 256,
};

/** Returns the message of an error: where several addresses were tried, Node's own one is empty. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(describeFailure).join("; ");
  return error instanceof Error ? error.message : String(error);
}
