/** A watch listener that records events and lets a test wait for them. */
import type { TransportEvent, TransportWatchListener } from "../../../api/machinery/transport.ts";

export interface ReceivedEvents {
  readonly listener: TransportWatchListener;
  readonly events: readonly TransportEvent[];
  /** Number of `ended` calls. */
  readonly ends: number;
  readonly ended: Promise<void>;
  /** Resolves when that many events have been delivered. */
  until(count: number): Promise<void>;
}

export function nextEvents(): ReceivedEvents {
  const events: TransportEvent[] = [];
  const waiting: { readonly count: number; readonly go: () => void }[] = [];
  let ends = 0;
  let onEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    onEnded = resolve;
  });
  return {
    events,
    ended,
    get ends() {
      return ends;
    },
    listener: {
      event(event) {
        events.push(event);
        for (const { count, go } of waiting) if (events.length >= count) go();
      },
      ended() {
        ends++;
        onEnded();
      },
    },
    until: (count) =>
      new Promise((resolve) => {
        if (events.length >= count) resolve();
        else waiting.push({ count, go: resolve });
      }),
  };
}
