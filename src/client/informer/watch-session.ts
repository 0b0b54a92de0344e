/**
 * One watch, from request to end, as one promise that always resolves, with the reason of the end. A half-open connection is detected by
 * silence: a server sends a bookmark about every minute.
 */
import type { Transport, TransportEvent, TransportRequest, TransportWatch } from "../../api/machinery/transport.ts";
import { NOT_NEEDED, onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";

/** Servers send a bookmark about every minute; two and a half missing ones are not a delay. */
const SILENCE_MAX_MS = 150_000;

export type WatchEnd =
  /** By the server, or the connection broke. */
  | { readonly is: "ended" }
  /** Not accepted, or ended by an ERROR. */
  | { readonly is: "failed"; readonly error: unknown }
  /** Nothing was received for too long. */
  | { readonly is: "silent" }
  /** An invalid event: the receiver's reason to stop. */
  | { readonly is: "rejected"; readonly why: "older" | "malformed" }
  /** By the signal. */
  | { readonly is: "closed" };

export interface WatchSessionOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly request: Omit<TransportRequest, "verb" | "signal">;
  readonly signal: AbortSignal;
  /** Each event but ERROR, in order, until it returns an end. */
  event(event: Exclude<TransportEvent, { type: "ERROR" }>): WatchEnd | undefined;
}

export function watchOnce({ transport, clock, request, signal, event }: WatchSessionOptions): Promise<WatchEnd> {
  if (signal.aborted) return Promise.resolve({ is: "closed" });
  return new Promise((resolve) => {
    const abort = new AbortController();
    let watch: TransportWatch | undefined;
    let isOver = false;
    let receivedAtMs = clock.monotonic();

    const end = (why: WatchEnd): void => {
      if (isOver) return;
      isOver = true;
      stopListening();
      abort.abort(NOT_NEEDED);
      watch?.stop();
      resolve(why);
    };
    const hear = (received: TransportEvent): void => {
      if (isOver) return;
      receivedAtMs = clock.monotonic();
      const why = received.type === "ERROR" ? ({ is: "failed", error: received.error } as const) : event(received);
      if (why !== undefined) end(why);
    };
    const noticeSilence = async (): Promise<void> => {
      for (let leftMs = SILENCE_MAX_MS; leftMs > 0; leftMs = receivedAtMs + SILENCE_MAX_MS - clock.monotonic()) {
        await clock.sleep(leftMs, abort.signal);
      }
      end({ is: "silent" });
    };

    const stopListening = onAbort(signal, () => end({ is: "closed" }));
    noticeSilence().catch(() => undefined); // It ended before.
    transport.watch({ ...request, signal: abort.signal }, { event: hear, ended: () => end({ is: "ended" }) }).then(
      (accepted) => {
        watch = accepted;
        if (isOver) accepted.stop();
      },
      (error: unknown) => end({ is: "failed", error }),
    );
  });
}
