/** A listener that keeps what it heard and lets a test wait for it. */
import type { TransportEvent, TransportWatchListener } from "../../../api/machinery/transport.ts";

export interface HeardEvents {
  readonly listener: TransportWatchListener;
  readonly events: readonly TransportEvent[];
  /** How often `ended` was called. */
  readonly ends: number;
  readonly ended: Promise<void>;
  /** Resolves when that many events were heard. */
  until(count: number): Promise<void>;
}

export function nextEvents(): HeardEvents {
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
