/**
 * Response of an HTTP client, common to HTTP/1.1 and HTTP/2: Node's stream is returned whole or streamed, decompressed, and a truncated
 * body is never mistaken for a complete one.
 */
import type { Readable } from "node:stream";
import { createGunzip, gunzip, gunzipSync } from "node:zlib";
import { HttpClientError, type HttpClientAnswer, type HttpStreamListener } from "./contract.ts";

/** Decompressing less than this is faster than handing it to another thread. */
const UNPACKED_AT_ONCE_BYTES_MAX = 64 * 1024;

export interface AnswerSource {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly stream: Readable;
  /** Called when the stream has ended or closed: true if the body is complete. */
  isWhole(): boolean;
  /** The error, if one is known. */
  failure(): Error | undefined;
  /** Called when the listener takes over: the request's signal no longer applies. */
  released(): void;
  abort(): void;
}

export function answerOf(source: AnswerSource): HttpClientAnswer {
  const { code, headers, stream } = source;
  // A reader that attaches after the connection broke would otherwise wait forever.
  let isClosed = false;
  stream.once("close", () => {
    isClosed = true;
  });
  const header = (name: string) => {
    const value = headers[name];
    return typeof value === "string" || value === undefined ? value : value.join(", ");
  };
  const isPacked = header("content-encoding") === "gzip";
  return {
    code,
    header,
    body: async () => {
      const bytes = await wholeOf(source, isClosed);
      return isPacked ? unpacked(bytes) : bytes;
    },
    stream(listener) {
      source.released();
      streamTo(source, isClosed, isPacked ? unpackingListener(listener, source) : listener);
    },
    abort: () => source.abort(),
  };
}

function wholeOf(source: AnswerSource, isClosed: boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    streamTo(source, isClosed, {
      piece: (bytes) => void pieces.push(bytes as Buffer),
      ended: (error) => {
        if (error !== undefined) reject(error);
        // Most responses are one chunk, which is not copied.
        else resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
      },
    });
  });
}

function streamTo(source: AnswerSource, isClosed: boolean, listener: HttpStreamListener): void {
  const { stream } = source;
  let isOver = false;
  const over = () => {
    if (isOver) return;
    isOver = true;
    listener.ended(source.isWhole() ? undefined : cut(source.failure()));
  };
  stream.on("data", (piece: Buffer) => listener.piece(piece));
  stream.once("end", over);
  stream.once("close", over);
  if (isClosed) over();
}

function cut(cause: Error | undefined): HttpClientError {
  const why = cause === undefined ? "the connection was closed before the end of the response" : cause.message;
  return new HttpClientError("lost", `Incomplete response: ${why}`, cause);
}

function unpacked(bytes: Buffer): Uint8Array | Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  if (bytes.length <= UNPACKED_AT_ONCE_BYTES_MAX) {
    try {
      return gunzipSync(bytes);
    } catch (error) {
      throw cut(error as Error);
    }
  }
  return new Promise((resolve, reject) => {
    gunzip(bytes, (error, result) => (error === null ? resolve(result) : reject(cut(error))));
  });
}

/** A watch needs each event immediately, so each chunk is decompressed as far as possible. */
function unpackingListener(listener: HttpStreamListener, source: AnswerSource): HttpStreamListener {
  const unpacker = createGunzip();
  let failure: HttpClientError | undefined;
  let isOver = false;
  const over = () => {
    if (isOver) return;
    isOver = true;
    listener.ended(failure);
  };
  unpacker.on("data", (piece: Buffer) => listener.piece(piece));
  unpacker.once("end", over);
  unpacker.once("error", (error) => {
    failure ??= cut(error);
    source.abort();
    over();
  });
  return {
    piece: (bytes) => void unpacker.write(bytes),
    ended: (error) => {
      failure ??= error;
      unpacker.end();
    },
  };
}
