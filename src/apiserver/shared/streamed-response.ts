/** An answer whose bytes come by and by, from wherever: whoever reads slowly holds up who writes, and who goes away ends it. */
import type { Sink, StreamedAnswer } from "../framework/exchange.ts";

/** Bytes that may wait for a client that reads slowly; above it reading pauses. A thousand clients that never read cost a quarter of a GiB. */
const WAITING_BYTES_MAX = 256 << 10;

export function streamedAnswer(
  head: Pick<StreamedAnswer, "code" | "headers">,
  read: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  options: { readonly reportsFailure: boolean },
): StreamedAnswer {
  return {
    ...head,
    stream(sink) {
      const gone = new AbortController();
      sink.onClosed(() => gone.abort(new Error("The client has gone")));
      void pour(read(gone.signal), sink, options);
    },
  };
}

/** Never rejects. What goes wrong when a text has begun can only be told within it; of anything else, the client sees that it is not whole. */
async function pour(
  pieces: AsyncIterable<Uint8Array>,
  sink: Sink,
  { reportsFailure }: { readonly reportsFailure: boolean },
): Promise<void> {
  const flow = new Flow(sink);
  try {
    for await (const bytes of pieces) if (sink.write({ bytes }) > WAITING_BYTES_MAX) await flow.goesOn();
  } catch (error) {
    if (!reportsFailure) return sink.abort();
    sink.write({ bytes: new TextEncoder().encode(error instanceof Error ? error.message : String(error)) });
  }
  sink.end();
}

/** When a client who was too slow can take more, or has gone. */
class Flow {
  #wake: () => void = () => undefined;

  constructor(sink: Sink) {
    sink.onDrained(() => this.#wake());
    sink.onClosed(() => this.#wake());
  }

  goesOn(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
