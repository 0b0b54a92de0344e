/** The open streams of exec, attach and port-forward: closed after an idle timeout, and when the server stops. */
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { Clock } from "../../../base/clock.ts";
import type { WebSocketConnection } from "../../../host/http/contract.ts";

/** Upstream's default of --streaming-connection-idle-timeout. */
export const STREAM_IDLE_TIMEOUT_MS = 4 * 60 * 60 * 1000;

/** WebSocket close code "going away". */
const GOING_AWAY = 1001;

export class OpenStreams {
  readonly #clock: Clock;
  readonly #idleTimeoutMs: number;
  readonly #open = new Set<() => void>();
  #isOver = false;

  constructor(clock: Clock, idleTimeoutMs: number) {
    this.#clock = clock;
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The same connection, tracked until it is closed. */
  webSocket(connection: WebSocketConnection): WebSocketConnection {
    const closed = new Promise<void>((resolve) => connection.onClosed(resolve));
    const moved = this.#watch(closed, () => connection.close(GOING_AWAY));
    return {
      ...connection,
      send(message, options) {
        moved();
        return connection.send(message, options);
      },
      onMessage: (listener) =>
        connection.onMessage((message, options) => {
          moved();
          listener(message, options);
        }),
    };
  }

  bytes(stream: ByteStream): ByteStream {
    const moved = this.#watch(stream.closed, () => stream.abort());
    return {
      input: withActivityReported(stream.input, moved),
      write(chunk) {
        moved();
        return stream.write(chunk);
      },
      end: () => stream.end(),
      abort: () => stream.abort(),
      closed: stream.closed,
    };
  }

  /** Closes the open streams, and later ones at once. */
  close(): void {
    this.#isOver = true;
    for (const end of this.#open) end();
  }

  /** Returns the function to call on activity. */
  #watch(closed: Promise<void>, end: () => void): () => void {
    const over = new AbortController();
    let movedAtMs = this.#clock.monotonic();
    this.#open.add(end);
    void closed.then(() => {
      this.#open.delete(end);
      over.abort();
    });
    if (this.#isOver) end();
    void this.#endWhenIdle(() => movedAtMs, end, over.signal);
    return () => {
      movedAtMs = this.#clock.monotonic();
    };
  }

  async #endWhenIdle(movedAtMs: () => number, end: () => void, closed: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const leftMs = movedAtMs() + this.#idleTimeoutMs - this.#clock.monotonic();
        if (leftMs <= 0) return end();
        await this.#clock.sleep(leftMs, closed);
      }
    } catch (error) {
      if (!closed.aborted) throw error;
    }
  }
}

async function* withActivityReported(source: AsyncIterable<Uint8Array>, onActivity: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    onActivity();
    yield chunk;
  }
}
