/**
 * SPDY/3.1 as Kubernetes clients and container runtimes still speak it: many streams over one connection, each with headers. Only what they
 * use: streams opened by the client side, data, ends, resets, pings, windows. Types only; session.ts speaks it.
 */
import type { ByteStream } from "../../base/byte-stream.ts";

export interface SpdySession {
  /** Of the client side. Resolves when the other side has taken it; rejects if it refuses. Names of headers are lower case. */
  open(headers: Readonly<Record<string, string>>): Promise<SpdyStream>;
  /** Of the server side: called for each stream of the client. Streams that came before the call are kept until then. */
  onStream(listener: (stream: SpdyStream) => void): void;
  /** Says goodbye and ends the connection after what was written. */
  close(): void;
  /** Now. */
  abort(): void;
  readonly closed: Promise<void>;
}

export interface SpdyStream extends ByteStream {
  readonly id: number;
  /** What it was opened with, lower case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Closes both directions of this stream immediately; the session continues. Same as `abort`. */
  reset(): void;
}

export interface SpdyOptions {
  readonly role: "client" | "server";
}
