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
  /** Gives it up: until the whole body was read, or, where it is read piece by piece, until the head has come. */
  readonly signal?: AbortSignal;
}

export type HttpClientHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The receiver calls one of its functions, each at most once. */
export interface HttpClientAnswer {
  readonly code: number;
  /** By its lower-case name; several of one name joined with ", ". */
  header(name: string): string | undefined;
  /** The whole body, unpacked if it came packed. Rejects with an HttpClientError if it was cut. */
  body(): Promise<Uint8Array>;
  /** The body piece by piece as it comes, unpacked. */
  stream(listener: HttpStreamListener): void;
  /** Aborts it; a stream is notified. */
  abort(): void;
}

export interface HttpStreamListener {
  piece(bytes: Uint8Array): void;
  /** Exactly once, last. With an error if it was cut. */
  ended(error?: HttpClientError): void;
}

export interface HttpClient extends AsyncDisposable {
  /** Resolves when the head of the answer is there. Rejects with an HttpClientError, or with the signal's reason. */
  send(request: HttpClientRequest): Promise<HttpClientAnswer>;
  /** New requests go over new connections; those there are end with the requests they carry. For when certificates have changed. */
  renew(): void;
}

/**
 * What is known of a request that got no whole answer. "unconnected": nothing reached the server; "unprocessed": the server said that it
 * did nothing with it, or it was never sent; "lost": the connection ended, and the server may have done all that was asked; "late": the
 * connection may be well, and the server may still be at it.
 */
export type LossKind = "unconnected" | "unprocessed" | "lost" | "late";

/** There was no whole answer. */
export class HttpClientError extends Error {
  override readonly name = "HttpClientError";
  readonly loss: LossKind;

  constructor(loss: LossKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.loss = loss;
  }
}

/** There was no connection in time. */
export class ConnectTimeout extends Error {
  override readonly name = "TimeoutError";
}

/** What a connection that is made is secured with. PEM. */
export interface ClientTls {
  /** Absent: what the machine trusts. */
  readonly authorities?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must have, if it is not that of the address. */
  readonly serverName?: string | undefined;
  /** Skips the verification of the server's certificate. */
  readonly isInsecure?: boolean | undefined;
}

/** Each can be set, mostly for tests. */
export interface HttpClientLimits {
  /** From the first packet to the end of the TLS handshake, a proxy's part included. */
  readonly connectTimeoutMs: number;
  /** From sending to the head of the answer. */
  readonly answerTimeoutMs: number;
  /** HTTP/2: how often it is asked whether the other side is still there. */
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  /** A connection without a request is closed after this long. */
  readonly idleTimeoutMs: number;
  /** Further requests wait until one of those under way ends. */
  readonly connectionsMax: number;
}

export const DEFAULT_CLIENT_LIMITS: HttpClientLimits = {
  connectTimeoutMs: 30_000,
  // API servers give up after a minute by themselves, and say so.
  answerTimeoutMs: 90_000,
  // Both as upstream's clients.
  pingIntervalMs: 30_000,
  pingTimeoutMs: 15_000,
  // Before the server does it (90 s), so that a request does not meet a connection that is just being closed.
  idleTimeoutMs: 60_000,
  // On HTTP/1.1 each watch takes one.
  connectionsMax: 256,
};

/** Says what went wrong: where several addresses were tried, Node's own message is empty. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(describeFailure).join("; ");
  return error instanceof Error ? error.message : String(error);
}
