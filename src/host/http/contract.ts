/**
 * HTTP over TLS as the rest of k8ts sees it: one request, one reply, and, after an upgrade, one WebSocket; the same for HTTP/1.1 and
 * HTTP/2. Types and words only; server.ts starts it. Nothing here is of Node, so that what answers requests can be tested without it.
 */
import type { ByteStream } from "../../base/byte-stream.ts";

export interface HttpPeer {
  readonly address: string;
  readonly isLoopback: boolean;
  /** The client certificate that was shown in the handshake: the client has its private key. Only asked for if there are client authorities. */
  readonly certificate?: HttpPeerCertificate;
}

export interface HttpPeerCertificate {
  readonly pem: string;
  /** The names of the authorities that signed it; none if it is not for clients or not valid at this time. */
  readonly authorities: readonly string[];
}

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** As it was sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; "" if there is none. */
  readonly query: string;
  /** One header by its lower-case name; several of one name joined with ", ". */
  header(name: string): string | undefined;
  /** The same, each by itself and in the order of coming. */
  headerValues(name: string): readonly string[];
  /** Of all headers that were sent, lower case. */
  headerNames(): readonly string[];
  /**
   * The whole body; a second call gives the same. Rejects over `bytesMax` or the server's own limit, whichever is less, and with the signal's
   * reason if the client went away.
   */
  body(bytesMax?: number): Promise<Uint8Array>;
  /** Aborted when the client disconnects before the response is complete, or the server closes the connection. Created on first use. */
  readonly signal: AbortSignal;
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
  /** A whole answer with its length. Only the head is sent if the request was a HEAD. The pieces must not change afterwards. */
  send(head: HttpHead, body: readonly Uint8Array[], options?: { readonly gzip?: boolean }): void;
  /** A streaming response until one side ends it. The head is sent immediately. */
  stream(head: HttpHead): HttpSink;
  /** No answer: cuts the client off. */
  abort(): void;
}

/** Bytes that go to many clients: what HTTP/1.1 puts around them is kept in `framed`, so that it is made once. */
export interface HttpChunk {
  readonly bytes: Uint8Array;
  framed?: Uint8Array;
}

export interface HttpSink {
  /** In order; what is written in one turn of the loop goes out together. Returns the bytes that wait in this process, these included. */
  write(chunk: HttpChunk): number;
  /** Ends it cleanly after what was written. */
  end(): void;
  /** Ends it now; the client sees that it is incomplete. */
  abort(): void;
  /** Called once when it is closed by either side; immediately if it is closed already. */
  onClosed(listener: () => void): void;
  /** Called each time nothing waits any more. */
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
  /** One message. Returns the bytes that wait in this process, these included. */
  send(message: Uint8Array, options: { readonly binary: boolean }): number;
  /** Messages from the client. Those that came before the call are kept until then. */
  onMessage(listener: (message: Uint8Array, options: { readonly binary: boolean }) => void): void;
  /** Stops and starts taking messages, so that a fast client can be held up. */
  pause(): void;
  resume(): void;
  /** Says goodbye after what was sent. 1000 is the normal code. */
  close(code?: number, reason?: string): void;
  /** Ends it now. */
  abort(): void;
  onClosed(listener: () => void): void;
  onDrained(listener: () => void): void;
}

/**
 * What a client that asks for another protocol than HTTP on this connection (Upgrade: SPDY/3.1, or a WebSocket that is to be handed on as
 * it is) offers. Not calling `switch` and replying refuses it.
 */
export interface TunnelOffer {
  /** What the header Upgrade says. */
  readonly protocol: string;
  /** Answers 101 with these headers (connection and upgrade among them); from then on the bytes are the protocol's. */
  switch(headers: Readonly<Record<string, string>>): Promise<ByteStream>;
}

/** Must not throw. `offer` is there if the client asks for a WebSocket, `tunnel` if it asks for any other protocol, a WebSocket among them. */
export type HttpHandler = (request: HttpRequest, reply: HttpReply, offer?: WebSocketOffer, tunnel?: TunnelOffer) => void;
