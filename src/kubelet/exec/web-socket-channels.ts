/**
 * Several channels of bytes in the messages of one WebSocket, as Kubernetes has them: every message begins with the number of its channel.
 * Clients that have no bytes get texts: the number as a digit, and the rest in base64. Whoever is slow holds up the other side: a client
 * that sends more than is read is not heard for a while, and whoever writes waits for one that does not read.
 * Not here: what the channels mean (exec-channels.ts, server/port-forward-channels.ts).
 */
import { Base64Error, decodeBase64, encodeBase64 } from "../../api/machinery/codec/base64.ts";

/** What is needed of a WebSocket. */
export interface ChannelSocket {
  /** Returns how many bytes wait because the client reads too slowly, these included. */
  send(message: Uint8Array, options: { readonly binary: boolean }): number;
  onMessage(listener: (message: Uint8Array) => void): void;
  pause(): void;
  resume(): void;
  /** After what was sent. */
  close(code?: number): void;
  /** Now. */
  abort(): void;
  onClosed(listener: () => void): void;
  /** Called each time the client has taken everything that waited. */
  onDrained(listener: () => void): void;
}

/** WebSocket's code for an end as it should be. */
export const NORMAL_CLOSURE = 1000;

/** Input that waits for somebody who does not read: from here on the client is held up. */
const INPUT_WAITING_BYTES_MAX = 1 << 20;
/** Output that waits for a client which does not read: from here on whoever writes is held up. */
export const OUTPUT_WAITING_BYTES_MAX = 1 << 20;
/** What a message costs besides its bytes, so that many empty ones are not free. */
const MESSAGE_COST_BYTES = 128;

export interface ChannelMessage {
  readonly channel: number;
  readonly payload: Uint8Array;
}

export interface Framing {
  readonly binary: boolean;
  frame(message: ChannelMessage): Uint8Array;
  /** Undefined: it is none. */
  read(message: Uint8Array): ChannelMessage | undefined;
}

export const BINARY: Framing = {
  binary: true,
  frame({ channel, payload }) {
    const message = new Uint8Array(1 + payload.length);
    message[0] = channel;
    message.set(payload, 1);
    return message;
  },
  read(message) {
    const [channel] = message;
    return channel === undefined ? undefined : { channel, payload: message.subarray(1) };
  },
};

/** The digit of channel 0. */
const DIGIT_0 = 48;

export const BASE64: Framing = {
  binary: false,
  frame: ({ channel, payload }) => new TextEncoder().encode(`${String.fromCharCode(DIGIT_0 + channel)}${encodeBase64(payload)}`),
  read(message) {
    const [digit] = message;
    if (digit === undefined) return undefined;
    try {
      return { channel: digit - DIGIT_0, payload: decodeBase64(new TextDecoder().decode(message.subarray(1))) };
    } catch (error) {
      if (error instanceof Base64Error) return undefined;
      throw error;
    }
  },
};

/** The way out, of all channels. */
export class ChannelOutlet {
  readonly #socket: ChannelSocket;
  readonly #framing: Framing;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(socket: ChannelSocket, framing: Framing) {
    this.#socket = socket;
    this.#framing = framing;
    socket.onDrained(() => this.#goOn());
    socket.onClosed(() => {
      this.#isClosed = true;
      this.#goOn();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** If the client does not keep up: a promise that resolves when it has, or has gone. */
  write(channel: number, payload: Uint8Array): void | Promise<void> {
    const { binary } = this.#framing;
    const waitingBytes = this.#socket.send(this.#framing.frame({ channel, payload }), { binary });
    if (waitingBytes > OUTPUT_WAITING_BYTES_MAX && !this.#isClosed) return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #goOn(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
  }
}

/** What comes on one channel, for one reader. It holds up a client who sends faster than it is read. */
export class ChannelInput implements AsyncIterable<Uint8Array> {
  readonly #socket: Pick<ChannelSocket, "pause" | "resume">;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #isHolding = false;
  #wake: (() => void) | undefined;

  constructor(socket: Pick<ChannelSocket, "pause" | "resume">) {
    this.#socket = socket;
  }

  take(payload: Uint8Array): void {
    if (payload.length === 0 || this.#isEnded) return;
    this.#waiting.push(payload);
    this.#waitingBytes += payload.length + MESSAGE_COST_BYTES;
    if (this.#waitingBytes > INPUT_WAITING_BYTES_MAX && !this.#isHolding) {
      this.#isHolding = true;
      this.#socket.pause();
    }
    this.#wake?.();
  }

  /** What has come by now is still read. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunks = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#letGo();
      if (chunks.length === 0 && this.#isEnded) return;
      if (chunks.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      yield* chunks;
    }
  }

  #letGo(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    this.#socket.resume();
  }
}

/** One socket that several inputs hold up: it goes on when none does any more. */
export function sharedHold(socket: Pick<ChannelSocket, "pause" | "resume">): Pick<ChannelSocket, "pause" | "resume"> {
  let holders = 0;
  return {
    pause: () => void (holders++ === 0 && socket.pause()),
    resume: () => void (--holders === 0 && socket.resume()),
  };
}
