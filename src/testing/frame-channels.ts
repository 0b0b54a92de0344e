/** Two ends of a channel of messages in this process: each message arrives in a later event-loop tick, in order, as between processes. */
import type { Clock } from "../base/clock.ts";
import type { FrameChannel } from "../store/remote/frame-channel.ts";

export function frameChannels(clock: Clock): readonly [FrameChannel, FrameChannel] {
  const one = new End(clock);
  const other = new End(clock);
  one.peer = other;
  other.peer = one;
  return [one, other];
}

class End implements FrameChannel {
  peer: End | undefined;
  readonly #clock: Clock;
  readonly #queue: Uint8Array[] = [];
  #listener: ((frame: Uint8Array) => void) | undefined;
  #drained: () => void = () => undefined;
  #whenClosed: (() => void)[] = [];
  #isClosed = false;
  #bufferedBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(parts: readonly Uint8Array[]): number {
    if (this.#isClosed) return 0;
    const frame = Uint8Array.from(Buffer.concat(parts));
    this.#bufferedBytes += frame.length;
    this.#clock.soon(() => {
      this.#bufferedBytes -= frame.length;
      this.peer?.receive(frame);
      if (this.#bufferedBytes === 0) this.#drained();
    });
    return this.#bufferedBytes;
  }

  receive(frame: Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#listener === undefined) this.#queue.push(frame);
    else this.#listener(frame);
  }

  onFrame(listener: (frame: Uint8Array) => void): void {
    this.#listener = listener;
    for (const frame of this.#queue.splice(0)) listener(frame);
  }

  onDrained(listener: () => void): void {
    this.#drained = listener;
  }

  onClosed(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#whenClosed.push(listener);
  }

  /** After what was sent, as on a socket. */
  close(): void {
    this.#clock.soon(() => {
      this.end();
      this.peer?.end();
    });
  }

  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of this.#whenClosed.splice(0)) listener();
  }
}
