/**
 * One watch, from asking for it to its end, as one promise that always resolves: with why it ended. A connection that is half open
 * (the other side is gone and nobody says so) is noticed by what does not come: a server sends a bookmark about every minute.
 */
import type { Transport, TransportEvent, TransportRequest, TransportWatch } from "../../api/machinery/transport.ts";
import { NOT_NEEDED, onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";

/** Servers send a bookmark every minute, give or take; two that did not come and half of a third are no delay. */
const SILENCE_MAX_MS = 150_000;

export type WatchEnd =
  /** By the server, or the connection broke. */
  | { readonly is: "ended" }
  /** Not accepted, or ended by an ERROR. */
  | { readonly is: "failed"; readonly error: unknown }
  /** Nothing was heard for too long. */
  | { readonly is: "silent" }
  /** What was heard cannot be: the receiver's own word for why it stops. */
  | { readonly is: "rejected"; readonly why: "older" | "malformed" }
  /** By the signal. */
  | { readonly is: "closed" };

export interface WatchSessionOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly request: Omit<TransportRequest, "verb" | "signal">;
  readonly signal: AbortSignal;
  /** Each but ERROR, in order, until it returns an end. */
  event(event: Exclude<TransportEvent, { type: "ERROR" }>): WatchEnd | undefined;
}

export function watchOnce({ transport, clock, request, signal, event }: WatchSessionOptions): Promise<WatchEnd> {
  if (signal.aborted) return Promise.resolve({ is: "closed" });
  return new Promise((resolve) => {
    const abort = new AbortController();
    let watch: TransportWatch | undefined;
    let isOver = false;
    let heardAtMs = clock.monotonic();

    const end = (why: WatchEnd): void => {
      if (isOver) return;
      isOver = true;
      stopListening();
      abort.abort(NOT_NEEDED);
      watch?.stop();
      resolve(why);
    };
    const hear = (heard: TransportEvent): void => {
      if (isOver) return;
      heardAtMs = clock.monotonic();
      const why = heard.type === "ERROR" ? ({ is: "failed", error: heard.error } as const) : event(heard);
      if (why !== undefined) end(why);
    };
    const noticeSilence = async (): Promise<void> => {
      for (let leftMs = SILENCE_MAX_MS; leftMs > 0; leftMs = heardAtMs + SILENCE_MAX_MS - clock.monotonic()) {
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
