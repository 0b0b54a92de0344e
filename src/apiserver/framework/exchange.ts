/**
 * The contract between the API server's core, which is pure, and the room that has sockets (apiserver/http): one HTTP exchange as
 * plain values. The core decides everything that a client can see; the HTTP room moves bytes, keeps the limits of connections and
 * bodies, compresses, and says when a client has gone.
 */
import type { ByteStream } from "../../base/byte-stream.ts";

export interface ExchangeRequest {
  /** Upper case. */
  readonly method: string;
  /** The path as it was sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; "" if there is none. */
  readonly query: string;
  /** One header by its lower-case name; several of one name joined with ", ". */
  header(name: string): string | undefined;
  /** The same, each by itself and in the order of coming, for those whose values may have a comma in them. */
  headerValues(name: string): readonly string[];
  /** Of all headers that were sent, lower case: for what is handed on. */
  headerNames(): readonly string[];
  /**
   * The whole body. Rejects with StatusError RequestEntityTooLarge over `bytesMax` or the server's own limit, whichever is less, and with the
   * signal's reason if the client went away.
   */
  body(bytesMax?: number): Promise<Uint8Array>;
  /** Aborted when the client has gone away or `cancel` was called. Made when it is first asked for, so reading requests do not ask. */
  readonly signal: AbortSignal;
  /** Nobody waits for this any longer: aborts the signal with this reason. */
  cancel(reason: unknown): void;
  readonly peer: Peer;
}

export interface Peer {
  readonly address: string;
  readonly isLoopback: boolean;
  /** The client certificate that was shown in the handshake: the client has its private key. */
  readonly certificate?: PeerCertificate;
}

export interface PeerCertificate {
  readonly pem: string;
  /** Which of the authorities that the HTTP room was given have signed it, by the names they were given. */
  readonly authorities: readonly string[];
}

/**
 * A client that asks for another protocol on its connection, a WebSocket among others, which can be handed on as it is. Any answer but a
 * TunnelledAnswer refuses it, or, of a WebSocket, an UpgradedAnswer or a stream.
 */
export interface SwitchOffer {
  /** As the header Upgrade has it: "websocket", "SPDY/3.1". */
  readonly protocol: string;
  /** What the client says about it, to be handed on with it. Lower case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that asks for a WebSocket. Any answer but an UpgradedAnswer refuses it; a stream becomes one of messages to the client. */
export interface UpgradeOffer {
  /** The subprotocols that the client speaks, best first. */
  readonly protocols: readonly string[];
}

export type ExchangeAnswer = WholeAnswer | StreamedAnswer | UpgradedAnswer | TunnelledAnswer;

/** Header names are lower case. Content-Length, Date, compression and the connection's own headers are the HTTP room's. */
export interface WholeAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Sent one after the other, never changed. */
  readonly body: readonly Uint8Array[];
}

/** An answer that goes on until one side ends it: a watch. */
export interface StreamedAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Called once, when the head has been sent. */
  stream(sink: Sink): void;
}

/** The connection becomes a WebSocket. Only for a request that offered one; if the client goes before, the request's signal tells. */
export interface UpgradedAnswer {
  /** One of those offered; absent: none. */
  readonly protocol?: string;
  /** Called once, when the connection is there. */
  run(socket: MessageSocket): void;
}

/** The connection is handed on: from here on its bytes are of the protocol that the client asked for. Only for a request that offered it. */
export interface TunnelledAnswer {
  /** Those of the answer 101, connection and upgrade among them. */
  readonly switching: Readonly<Record<string, string>>;
  /** Called once, when the head has been sent. */
  tunnel(client: ByteStream): void;
  /** Called instead if the client has gone. */
  abort(): void;
}

/** Messages both ways. */
export interface MessageSocket {
  /** Returns how many bytes wait in this process because the client reads too slowly, these included. */
  send(message: Uint8Array, options: { readonly binary: boolean }): number;
  /** Messages that came before the call are kept until then. */
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
 * Bytes that go to many clients at once: the HTTP room keeps what it needs to send them (the chunk with its length before it) in
 * `framed`, so that it is made once and not once per client.
 */
export interface SharedBytes {
  readonly bytes: Uint8Array;
  framed?: Uint8Array;
}

/** Where a streamed answer goes. */
export interface Sink {
  /**
   * Takes the bytes at once, in order; writes of one turn of the loop go out together. Returns how many bytes wait in this process
   * because the client reads too slowly, these included. After the end it does nothing.
   */
  write(chunk: SharedBytes): number;
  /** Ends the answer cleanly after what was written. A second call does nothing. */
  end(): void;
  /** Ends it now, dropping what waits: the client sees an incomplete answer. */
  abort(): void;
  /** Called once when the stream is over, whoever ended it; at once if it is over already. */
  onClosed(listener: () => void): void;
  /** Called each time the client has taken everything that waited. */
  onDrained(listener: () => void): void;
}

/** Never rejects: what went wrong is an answer, too. */
export type Exchange = (request: ExchangeRequest, offer?: UpgradeOffer, switching?: SwitchOffer) => Promise<ExchangeAnswer>;
