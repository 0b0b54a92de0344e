/** Limits of the server per client. Each has its reason; those in HttpLimits are configurable, mostly for tests. */

export interface HttpLimits {
  /** Maximum size of a request's body. */
  readonly bodyBytesMax: number;
  /** HTTP/2: concurrent requests per connection. */
  readonly streamsPerConnectionMax: number;
  /** Maximum number of connections; further ones are closed immediately. */
  readonly connectionsMax: number;
  /** From a connection's first byte to the end of the request headers, against slow clients (slowloris). */
  readonly headersTimeoutMs: number;
  /** For the whole request, its body included. */
  readonly requestTimeoutMs: number;
  /** Idle timeout of a connection. */
  readonly idleTimeoutMs: number;
  /** A client that reads nothing of a whole response for this long is disconnected. Streams are limited by their writers. */
  readonly stallTimeoutMs: number;
  /** Interval of the sweep that enforces the four timeouts above. */
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

/** TCP keepalive: a dead machine is noticed by probes, the first after this long. */
export const TCP_KEEPALIVE_MS = 30_000;

/** Bytes of a body that an HTTP/2 client may send ahead, per request (as upstream: 99 % of objects are smaller) and per connection. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
export const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;

/** Memory limit of Node per HTTP/2 connection; its default of 10 MB is too little for 1,000 watches. */
export const SESSION_MEMORY_MEGABYTES_MAX = 256;

/** Responses up to this size are sent in one write with their head. */
export const ONE_WRITE_BYTES_MAX = 64 * 1024;

/** Larger ones are sent in blocks of about this size, each when the previous one was accepted: a slow reader holds one block in memory. */
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

/** Maximum number of queued pongs for a WebSocket client that pings and does not read; with more it is closed. */
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
