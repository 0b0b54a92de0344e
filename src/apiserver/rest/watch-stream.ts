/** A watch on its way to a client. A client that does not read is let go before what waits for it becomes too much. */
import type { SharedBytes, Sink } from "../framework/exchange.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { WatchEvent } from "../framework/watch.ts";
import type { Encoder } from "./encoder.ts";
import type { WaitingBytes } from "./waiting-bytes.ts";

/** Above this, what is read from history or shown at the start waits until the client has taken what it has. */
const HIGH_WATER_BYTES = 256 * 1024;

/** Above this a client that gets live events is too slow. Its connection is closed; it comes back and lists anew. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** Frames of shared events, framed once for the connections that need it. */
const frames = new WeakMap<Uint8Array, SharedBytes>();

export function streamWatch(
  { endpoint, watch }: Extract<Outcome, { is: "watch" }>,
  { encoder, sink, waitingBytes }: { readonly encoder: Encoder; readonly sink: Sink; readonly waitingBytes: WaitingBytes },
): void {
  let resume: (() => void) | undefined;
  let isAborted = false;
  let waitedBefore = 0;
  const cutOff = () => {
    isAborted = true;
    sink.abort();
  };
  const own = waitingBytes.client(cutOff);
  const running = watch.start({
    event(event) {
      if (isAborted) return undefined;
      const chunk = chunkOf(encoder.event(endpoint, event), event);
      const waiting = sink.write(chunk);
      own.set(waiting, waiting < waitedBefore + chunk.bytes.length);
      waitedBefore = waiting;
      if (waiting > WAITING_BYTES_MAX) cutOff();
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

/** One object per buffer, so that the framing that is kept with it serves all. */
function chunkOf(bytes: Uint8Array, event: WatchEvent): SharedBytes {
  if (!("shared" in event) || event.shared === undefined) return { bytes };
  const known = frames.get(bytes);
  if (known !== undefined) return known;
  const made: SharedBytes = { bytes };
  frames.set(bytes, made);
  return made;
}
