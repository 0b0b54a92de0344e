/**
 * HTTP over TLS as the rest of k8ts sees it: one request, one reply, and, after an upgrade, one WebSocket; the same for HTTP/1.1 and
 * HTTP/2. Types and words only; server.ts starts it. Nothing here is of Node, so that what answers requests can be tested without it.
 */
import type { CancelSignal } from "../../base/abort.ts";
import type { ByteStream } from "../../base/byte-stream.ts";

export interface HttpPeer {
  readonly address: string;
  readonly isLoopback: boolean;
  /** The client certificate presented in the handshake: the client has its private key. Requested only if there are client CAs. */
  readonly certificate?: HttpPeerCertificate;
}

export interface HttpPeerCertificate {
  readonly pem: string;
  /** Names of the CAs that signed it; none if it is not for clients or not valid now. */
  readonly authorities: readonly string[];
}

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** As received, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; "" if none exists. */
  readonly query: string;
  /** One header by its lower-case name; several of one name joined with ", ". */
  header(name: string): string | undefined;
  /** Same, as separate values in the order received. */
  headerValues(name: string): readonly string[];
  /** Names of all received headers, lower case. */
  headerNames(): readonly string[];
  /**
   * The whole body, at once if it was received with the head; repeated calls return the same. Rejects over `bytesMax` or the server's own limit, whichever is less, and with the
   * signal's reason if the client disconnects.
   */
  body(bytesMax?: number): Uint8Array | Promise<Uint8Array>;
  /** Aborted when the client disconnects before the response is complete, or the server closes the connection. Created on first use. */
  readonly signal: CancelSignal;
  /** Aborts the signal with this reason. */
  cancel(reason: unknown): void;
  readonly peer: HttpPeer;
}

export interface HttpHead {
  readonly code: number;
  /** Names are lower case. Not among them: date, content-length, and what belongs to the connection. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** Exactly one of its functions is called, once. After a disconnect they do nothing, and a sink is closed from the start. */
export interface HttpReply {
  /** A whole response with its length. Only the head is sent for a HEAD request. The chunks must not change afterwards. */
  send(head: HttpHead, body: readonly Uint8Array[], options?: { readonly gzip?: boolean }): void;
  /** A streaming response until one side ends it. The head is sent immediately. */
  stream(head: HttpHead): HttpSink;
  /** No response: closes the connection. */
  abort(): void;
}

/** Bytes that are sent to many clients: their HTTP/1.1 framing is kept in `framed`, so that it is created once. */
export interface HttpChunk {
  readonly bytes: Uint8Array;
  framed?: Uint8Array;
}

export interface HttpSink {
  /** Writes in order; writes of one event-loop tick are sent together. Returns the bytes buffered in this process, these included. */
  write(chunk: HttpChunk): number;
  /** Ends it cleanly after what was written. */
  end(): void;
  /** Ends it immediately; the client sees that it is incomplete. */
  abort(): void;
  /** Called once when it is closed by either side; immediately if it is closed already. */
  onClosed(listener: () => void): void;
  /** Called each time all buffered bytes were flushed. */
  onDrained(listener: () => void): void;
}

/** What a client that asks for a WebSocket offers. Not calling `accept` and replying refuses it. */
export interface WebSocketOffer {
  /** The subprotocols the client knows, best first. */
  readonly protocols: readonly string[];
  /** Switches protocols, with one of the offered subprotocols or none. Rejects if the client disconnected. */
  accept(protocol?: string): Promise<WebSocketConnection>;
}

export interface WebSocketConnection {
  /** The subprotocol that was agreed on; "" for none. */
  readonly protocol: string;
  /** Sends one message. Returns the bytes buffered in this process, these included. */
  send(message: Uint8Array, options: { readonly binary: boolean }): number;
  /** Messages from the client. Earlier ones are queued until this call. */
  onMessage(listener: (message: Uint8Array, options: { readonly binary: boolean }) => void): void;
  /** Pauses and resumes receiving, for backpressure. */
  pause(): void;
  resume(): void;
  /** Closes after the sent messages. 1000 is the normal code. */
  close(code?: number, reason?: string): void;
  /** Ends it immediately. */
  abort(): void;
  onClosed(listener: () => void): void;
  onDrained(listener: () => void): void;
}

/**
 * What a client that asks for another protocol than HTTP on this connection (Upgrade: SPDY/3.1, or a WebSocket that is to be handed on as
 * it is) offers. Not calling `switch` and replying refuses it.
 */
export interface TunnelOffer {
  /** Value of the Upgrade header. */
  readonly protocol: string;
  /** Responds 101 with these headers (connection and upgrade included); the bytes that follow belong to the protocol. */
  switch(headers: Readonly<Record<string, string>>): Promise<ByteStream>;
}

/** Must not throw. `offer` is there if the client asks for a WebSocket, `tunnel` if it asks for any other protocol, a WebSocket among them. */
export type HttpHandler = (request: HttpRequest, reply: HttpReply, offer?: WebSocketOffer, tunnel?: TunnelOffer) => void;
