/** Streams a watch to a client. A client that does not read is disconnected before its buffer becomes too large. */
import type { SharedBytes, Sink } from "../framework/exchange.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { WatchEvent } from "../framework/watch.ts";
import type { Encoder } from "./encoder.ts";
import type { WaitingBytes } from "./waiting-bytes.ts";

/** Above this, events from history and initial events wait until the client has read what is buffered. */
const HIGH_WATER_BYTES = 256 * 1024;

/** Above this a client of live events is too slow. Its connection is closed; it reconnects and lists again. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** Frames of shared events, framed once for all connections. */
const frames = new WeakMap<Uint8Array, SharedBytes>();

export function streamWatch(
  { endpoint, watch }: Extract<Outcome, { is: "watch" }>,
  { encoder, sink, waitingBytes }: { readonly encoder: Encoder; readonly sink: Sink; readonly waitingBytes: WaitingBytes },
): void {
  let resume: (() => void) | undefined;
  let isAborted = false;
  let waitedBefore = 0;
  const disconnect = () => {
    isAborted = true;
    sink.abort();
  };
  const own = waitingBytes.client(disconnect);
  const running = watch.start({
    event(event) {
      if (isAborted) return undefined;
      const chunk = chunkOf(encoder.event(endpoint, event), event);
      const waiting = sink.write(chunk);
      own.set(waiting, waiting < waitedBefore + chunk.bytes.length);
      waitedBefore = waiting;
      if (waiting > WAITING_BYTES_MAX) disconnect();
      if (isAborted || waiting <= HIGH_WATER_BYTES) return undefined;
      return new Promise((resolve) => {
        resume = resolve;
      });
    },
    ended: () => sink.end(),
  });
  sink.onDrained(() => {
    waitedBefore = 0;
    own.set(0, true);
    resume?.();
  });
  sink.onClosed(() => {
    own.set(0, true);
    resume?.();
    running.stop();
  });
}

/** One object per buffer, so that its cached framing serves all clients. */
function chunkOf(bytes: Uint8Array, event: WatchEvent): SharedBytes {
  if (!("shared" in event) || event.shared === undefined) return { bytes };
  const known = frames.get(bytes);
  if (known !== undefined) return known;
  const made: SharedBytes = { bytes };
  frames.set(bytes, made);
  return made;
}
