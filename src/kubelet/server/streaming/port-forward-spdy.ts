/**
 * Port-forwarding over SPDY, on its own connection or inside a WebSocket. For each connection to a port the client opens two streams with
 * the same `requestid`: one for data, one for errors. Many run concurrently. Not here: how a port is reached (the runtime).
 */
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { Clock } from "../../../base/clock.ts";
import { discard } from "../../../host/network/byte-streams.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { SpdyStream } from "../../../host/spdy/contract.ts";
import { spdySession } from "../../../host/spdy/session.ts";

/** Timeout for the second stream of a pair. Upstream's. */
const STREAM_TIMEOUT_MS = 30_000;

export interface PortForwarding {
  /** Copies bytes between a port and the stream until either side ends. The signal aborts when the client disconnects. */
  readonly forward: (port: number, stream: ByteStream, signal: AbortSignal) => Promise<void>;
  /** Error message for the client. */
  readonly describeFailure: (port: number, error: unknown) => string;
  readonly clock?: Clock;
}

/** Resolves when the client disconnects. Never rejects. */
export async function servePortForward(
  connection: ByteStream,
  { forward, describeFailure, clock = realClock }: PortForwarding,
): Promise<void> {
  const session = spdySession(connection, { role: "server" });
  const disconnected = new AbortController();
  const pairs = new Pairs(clock, disconnected.signal, ({ data, error }) => void serve(data, error));
  session.onStream((stream) => (isPortStream(stream) ? pairs.add(stream) : stream.reset()));
  await session.closed;
  disconnected.abort(new Error("The client disconnected"));

  async function serve(data: SpdyStream, error: SpdyStream): Promise<void> {
    const port = Number(data.headers["port"]);
    try {
      await forward(port, data, disconnected.signal);
      data.end();
      error.end();
    } catch (failure) {
      sendError(error, describeFailure(port, failure));
      data.reset();
    }
  }
}

/** Other streams are rejected. */
function isPortStream({ headers }: SpdyStream): boolean {
  const { port = "", streamtype } = headers;
  return /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535 && (streamtype === "data" || streamtype === "error");
}

function sendError(errorStream: SpdyStream, message: string): void {
  // Ignored if the client has disconnected.
  errorStream.write(new TextEncoder().encode(message)).catch(() => undefined);
  errorStream.end();
}

interface Pair {
  /** Cancels the wait for the other stream. */
  readonly complete: AbortController;
  data?: SpdyStream;
  error?: SpdyStream;
}

interface WholePair {
  readonly data: SpdyStream;
  readonly error: SpdyStream;
}

/** Streams that wait for the other of their pair, bounded by the session's stream limit. */
class Pairs {
  readonly #clock: Clock;
  readonly #disconnected: AbortSignal;
  readonly #whole: (pair: WholePair) => void;
  readonly #halves = new Map<string, Pair>();

  constructor(clock: Clock, disconnected: AbortSignal, whole: (pair: WholePair) => void) {
    this.#clock = clock;
    this.#disconnected = disconnected;
    this.#whole = whole;
  }

  add(stream: SpdyStream): void {
    const type = stream.headers["streamtype"] === "data" ? "data" : "error";
    const request = requestOf(stream, type);
    const pair = this.#halves.get(request) ?? this.#begin(request);
    if (pair[type] !== undefined) {
      if (pair.error !== undefined)
        sendError(pair.error, `error processing stream for request ${request}: ${type} stream already assigned`);
      return stream.reset();
    }
    pair[type] = stream;
    // Input on it is discarded.
    if (type === "error") void discard(stream.input);
    const { data, error } = pair;
    if (data === undefined || error === undefined) return;
    this.#halves.delete(request);
    pair.complete.abort(NOT_NEEDED);
    this.#whole({ data, error });
  }

  #begin(request: string): Pair {
    const pair: Pair = { complete: new AbortController() };
    this.#halves.set(request, pair);
    void this.#giveUp(request, pair);
    return pair;
  }

  async #giveUp(request: string, pair: Pair): Promise<void> {
    const over = AbortSignal.any([this.#disconnected, pair.complete.signal]);
    await this.#clock.sleep(STREAM_TIMEOUT_MS, over).catch(() => undefined);
    if (this.#halves.get(request) !== pair) return;
    this.#halves.delete(request);
    if (pair.error !== undefined) sendError(pair.error, `(request=${request}) timed out waiting for streams`);
    pair.data?.reset();
  }
}

/** Clients without request ids open the error stream first and the data stream next. */
function requestOf({ id, headers }: SpdyStream, type: "data" | "error"): string {
  const given = headers["requestid"] ?? "";
  return given === "" ? String(type === "error" ? id : id - 2) : given;
}
