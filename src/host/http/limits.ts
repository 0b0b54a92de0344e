/** What one client can take of the server, by name. Each has its reason; those in HttpLimits can be set, mostly for tests. */

export interface HttpLimits {
  /** A request's body. */
  readonly bodyBytesMax: number;
  /** HTTP/2: requests at the same time on one connection. */
  readonly streamsPerConnectionMax: number;
  /** A further connection is closed at once. */
  readonly connectionsMax: number;
  /** From a connection's first byte to the end of the request headers, against slow clients (slowloris). */
  readonly headersTimeoutMs: number;
  /** For the whole request, its body included. */
  readonly requestTimeoutMs: number;
  /** A connection without a request is closed after this long. */
  readonly idleTimeoutMs: number;
  /** A client that takes nothing of a whole answer for this long is given up. Streams are their writer's to judge. */
  readonly stallTimeoutMs: number;
  /** How often the four times above are looked at. */
  readonly sweepIntervalMs: number;
}

/** A request line with its headers. Upstream takes 1 MiB; tokens and selectors need a few KiB, and each connection may hold this much. */
export const HEADER_BYTES_MAX = 64 * 1024;

/**
 * HTTP/2: headers of one request. Its specification counts 32 bytes for each header beside its name and value, so HEADER_BYTES_MAX holds
 * before this does: the count itself decides nothing (node-servers.ts says why).
 */
export const HEADER_PAIRS_MAX = HEADER_BYTES_MAX / 32;

/** From connecting to the end of the TLS handshake. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** A dead machine is noticed by TCP's own probes, the first after this long. */
export const TCP_KEEPALIVE_MS = 30_000;

/** Bytes of a body that an HTTP/2 client may send ahead, per request (as upstream: 99 % of objects are smaller) and per connection. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
export const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;

/** What Node may hold for one HTTP/2 connection before it refuses further requests; its default of 10 MB is too little for 1,000 watches. */
export const SESSION_MEMORY_MEGABYTES_MAX = 256;

/** Answers up to this size go out in one write with their head. */
export const ONE_WRITE_BYTES_MAX = 64 * 1024;

/** Larger ones go out in blocks of about this size, each when the one before it was taken: a slow reader holds one block in memory. */
export const BLOCK_BYTES = 256 * 1024;

/**
 * Of a stream (a watch, a log) Node is handed this much at a time, and the next when the client has taken it: as TLS encrypts it into a copy
 * of its own, a client that does not read costs this much, and what waits behind it is shared with all other clients. Four TLS records.
 */
export const STREAM_PIECE_BYTES_MAX = 64 * 1024;

/**
 * After an answer to a body that was too large, what still comes is thrown away until nothing came for this long, so that the client reads
 * the answer before the reset.
 */
export const LINGER_MS = 2_000;

/** One message from a WebSocket client. */
export const WEBSOCKET_MESSAGE_BYTES_MAX = 1024 * 1024;

/**
 * Pings of one WebSocket client in each WEBSOCKET_PING_WINDOW_MS; with more it is closed. Each costs an answer, and kubectl needs two:
 * it pings every 5 seconds.
 */
export const WEBSOCKET_PINGS_MAX = 100;
export const WEBSOCKET_PING_WINDOW_MS = 10_000;

/** Answers to pings that wait for a WebSocket client which pings and does not read; with more it is closed. */
export const WEBSOCKET_PONGS_WAITING_MAX = 1_000;

export const DEFAULT_LIMITS: HttpLimits = {
  bodyBytesMax: 3 * 1024 * 1024,
  streamsPerConnectionMax: 1000,
  connectionsMax: 16_384,
  headersTimeoutMs: 32_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 90_000,
  stallTimeoutMs: 60_000,
  sweepIntervalMs: 5_000,
};
