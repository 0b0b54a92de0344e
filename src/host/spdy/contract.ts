/**
 * SPDY/3.1 as Kubernetes clients and container runtimes still speak it: many streams over one connection, each with headers. Only what they
 * use: streams opened by the client side, data, ends, resets, pings, windows. Types only; session.ts speaks it.
 */
import type { ByteStream } from "../../base/byte-stream.ts";

export interface SpdySession {
  /** For the client side. Resolves when the peer has accepted it; rejects if it refuses. Header names are lower case. */
  open(headers: Readonly<Record<string, string>>): Promise<SpdyStream>;
  /** For the server side: called for each stream of the client. Earlier streams are queued until this call. */
  onStream(listener: (stream: SpdyStream) => void): void;
  /** Sends GOAWAY and closes the connection after the written data. */
  close(): void;
  /** Closes immediately. */
  abort(): void;
  readonly closed: Promise<void>;
}

export interface SpdyStream extends ByteStream {
  readonly id: number;
  /** Its headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Closes both directions of this stream immediately; the session continues. Same as `abort`. */
  reset(): void;
}

export interface SpdyOptions {
  readonly role: "client" | "server";
}
