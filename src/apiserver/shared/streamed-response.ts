/**
 * A response whose bytes are streamed from another source, with backpressure: a slow reader pauses the source, and a client that
 * disconnects ends it.
 */
import type { Sink, StreamedAnswer } from "../framework/exchange.ts";

/** Bytes buffered for a slow client; above it reading pauses. A thousand clients that never read cost a quarter of a GiB. */
const WAITING_BYTES_MAX = 256 << 10;

export function streamedAnswer(
  head: Pick<StreamedAnswer, "code" | "headers">,
  read: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  options: { readonly reportsFailure: boolean },
): StreamedAnswer {
  return {
    ...head,
    stream(sink) {
      const disconnected = new AbortController();
      sink.onClosed(() => disconnected.abort(new Error("The client disconnected")));
      void pipe(read(disconnected.signal), sink, options);
    },
  };
}

/** Never rejects. A failure after a text response has begun can only be reported within it; any other response is visibly truncated. */
async function pipe(
  pieces: AsyncIterable<Uint8Array>,
  sink: Sink,
  { reportsFailure }: { readonly reportsFailure: boolean },
): Promise<void> {
  const flow = new Flow(sink);
  try {
    for await (const bytes of pieces) if (sink.write({ bytes }) > WAITING_BYTES_MAX) await flow.drained();
  } catch (error) {
    if (!reportsFailure) return sink.abort();
    sink.write({ bytes: new TextEncoder().encode(error instanceof Error ? error.message : String(error)) });
  }
  sink.end();
}

/** When a slow client can accept more, or has disconnected. */
class Flow {
  #wake: () => void = () => undefined;

  constructor(sink: Sink) {
    sink.onDrained(() => this.#wake());
    sink.onClosed(() => this.#wake());
  }

  drained(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
