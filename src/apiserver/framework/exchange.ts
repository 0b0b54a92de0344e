/**
 * The contract between the API server's core, which is pure, and the HTTP server (apiserver/http): one HTTP exchange as plain values. The
 * core decides everything that a client can see; the HTTP server transfers bytes, enforces limits on connections and bodies, compresses,
 * and reports when a client disconnects.
 */
import type { CancelSignal } from "../../base/abort.ts";
import type { ByteStream } from "../../base/byte-stream.ts";

export interface ExchangeRequest {
  /** Upper case. */
  readonly method: string;
  /** The path as it was sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; "" if none exists. */
  readonly query: string;
  /** One header by its lower-case name; repeated ones joined with ", ". */
  header(name: string): string | undefined;
  /** All values of one header in the order received, for headers whose values may contain a comma. */
  headerValues(name: string): readonly string[];
  /** Names of all received headers, lower case: for forwarding. */
  headerNames(): readonly string[];
  /**
   * The whole body, at once if it was received with the head. Rejects with StatusError RequestEntityTooLarge over `bytesMax` or the server's own limit, whichever is less, and with
   * the signal's reason if the client disconnected.
   */
  body(bytesMax?: number): Uint8Array | Promise<Uint8Array>;
  /** Aborted when the client disconnects or `cancel` is called. Created on first access, so reading requests do not access it. */
  readonly signal: CancelSignal;
  /** Aborts the signal with this reason: the response is no longer needed. */
  cancel(reason: unknown): void;
  readonly peer: Peer;
  /**
   * The `Audit-Id` of the request once it was needed. Set by the REST layer only; here, since a WeakMap of requests would cost each of them
   * more than its whole record.
   */
  auditId?: string;
}

export interface Peer {
  readonly address: string;
  readonly isLoopback: boolean;
  /** The client certificate of the TLS handshake: the client has its private key. */
  readonly certificate?: PeerCertificate;
}

export interface PeerCertificate {
  readonly pem: string;
  /** The names of those configured certificate authorities that have signed it. */
  readonly authorities: readonly string[];
}

/**
 * A client that requests a protocol upgrade of its connection, to WebSocket or another protocol that can be tunnelled. Any answer rejects
 * it but a TunnelledAnswer or, for a WebSocket, an UpgradedAnswer or a stream.
 */
export interface SwitchOffer {
  /** The value of the Upgrade header: "websocket", "SPDY/3.1". */
  readonly protocol: string;
  /** The client's headers of the upgrade, to be forwarded. Lower case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that requests a WebSocket. Any answer but an UpgradedAnswer rejects it; a stream is sent as messages. */
export interface UpgradeOffer {
  /** The subprotocols that the client supports, in order of preference. */
  readonly protocols: readonly string[];
}

export type ExchangeAnswer = WholeAnswer | StreamedAnswer | UpgradedAnswer | TunnelledAnswer;

/** Header names are lower case. The HTTP server sets Content-Length, Date, compression and the connection's own headers. */
export interface WholeAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Sent in order, never modified. */
  readonly body: readonly Uint8Array[];
}

/** An answer that continues until one side ends it: a watch. */
export interface StreamedAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Called once, when the head has been sent. */
  stream(sink: Sink): void;
}

/**
 * The connection becomes a WebSocket. Only for a request that offered one; if the client disconnects before, the request's signal is
 * aborted.
 */
export interface UpgradedAnswer {
  /** One of those offered; absent: none. */
  readonly protocol?: string;
  /** Called once, when the WebSocket is open. */
  run(socket: MessageSocket): void;
}

/** The connection is tunnelled: from here on its bytes are those of the requested protocol. Only for a request that offered it. */
export interface TunnelledAnswer {
  /** Headers of the 101 response, including Connection and Upgrade. */
  readonly switching: Readonly<Record<string, string>>;
  /** Called once, when the head has been sent. */
  tunnel(client: ByteStream): void;
  /** Called instead if the client has disconnected. */
  abort(): void;
}

/** A bidirectional message channel. */
export interface MessageSocket {
  /** Returns the number of bytes buffered for a slow client, these included. */
  send(message: Uint8Array, options: { readonly binary: boolean }): number;
  /** Messages received before the call are buffered until then. */
  onMessage(listener: (message: Uint8Array, options: { readonly binary: boolean }) => void): void;
  /** Pauses and resumes receiving: backpressure for a fast client. */
  pause(): void;
  resume(): void;
  /** Sends a close frame after what was sent. 1000 is the normal code. */
  close(code?: number, reason?: string): void;
  /** Terminates it immediately. */
  abort(): void;
  onClosed(listener: () => void): void;
  onDrained(listener: () => void): void;
}

/**
 * Bytes that are sent to many clients: the HTTP server caches their framing (the chunk with its length) in `framed`, so that it is created
 * once and not once per client.
 */
export interface SharedBytes {
  readonly bytes: Uint8Array;
  framed?: Uint8Array;
}

/** Sink of a streamed answer. */
export interface Sink {
  /**
   * Accepts the bytes synchronously, in order; writes of one event-loop tick are sent together. Returns the number of bytes buffered for a
   * slow client, these included. Does nothing after the end.
   */
  write(chunk: SharedBytes): number;
  /** Ends the answer cleanly after what was written. A second call does nothing. */
  end(): void;
  /** Terminates it immediately and drops what is buffered: the client sees an incomplete response. */
  abort(): void;
  /** Called once when the stream has ended, whichever side ended it; immediately if it has ended already. */
  onClosed(listener: () => void): void;
  /** Called each time the client has taken everything that was buffered. */
  onDrained(listener: () => void): void;
}

/** An exchange rejects with this to close the connection without an answer, as if the server had failed. */
export class ConnectionReset extends Error {}

/** Never rejects but with ConnectionReset: a failure is an answer, too. */
export type Exchange = (request: ExchangeRequest, offer?: UpgradeOffer, switching?: SwitchOffer) => Promise<ExchangeAnswer>;
