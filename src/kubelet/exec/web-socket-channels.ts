/**
 * Several byte channels in the messages of one WebSocket: each message starts with the number of its channel. Clients without binary
 * messages get text: the number as a digit, and the rest in base64. Both directions apply back-pressure: a client that sends more than is
 * read is paused, and writers wait for a client that does not read. Not here: the meaning of the channels (exec-channels.ts,
 * server/streaming/port-forward-channels.ts).
 */
import { Base64Error, decodeBase64, encodeBase64 } from "../../api/machinery/codec/base64.ts";

/** The part of a WebSocket that is used here. */
export interface ChannelSocket {
  /** Returns the number of buffered bytes, including these. */
  send(message: Uint8Array, options: { readonly binary: boolean }): number;
  onMessage(listener: (message: Uint8Array) => void): void;
  pause(): void;
  resume(): void;
  /** After pending messages. */
  close(code?: number): void;
  /** Immediately. */
  abort(): void;
  onClosed(listener: () => void): void;
  /** Called each time that the buffer has drained. */
  onDrained(listener: () => void): void;
}

/** WebSocket's code of a normal closure. */
export const NORMAL_CLOSURE = 1000;

/** Unread input above which the client is paused. */
const INPUT_WAITING_BYTES_MAX = 1 << 20;
/** Buffered output above which writers wait. */
export const OUTPUT_WAITING_BYTES_MAX = 1 << 20;
/** Overhead counted per message, so that many empty ones are not free. */
const MESSAGE_COST_BYTES = 128;

export interface ChannelMessage {
  readonly channel: number;
  readonly payload: Uint8Array;
}

export interface Framing {
  readonly binary: boolean;
  frame(message: ChannelMessage): Uint8Array;
  /** Undefined: invalid. */
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

/** The output of all channels. */
export class ChannelOutlet {
  readonly #socket: ChannelSocket;
  readonly #framing: Framing;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(socket: ChannelSocket, framing: Framing) {
    this.#socket = socket;
    this.#framing = framing;
    socket.onDrained(() => this.#resume());
    socket.onClosed(() => {
      this.#isClosed = true;
      this.#resume();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A promise while the client is too slow; it resolves when the buffer has drained or the client disconnected. */
  write(channel: number, payload: Uint8Array): void | Promise<void> {
    const { binary } = this.#framing;
    const waitingBytes = this.#socket.send(this.#framing.frame({ channel, payload }), { binary });
    if (waitingBytes > OUTPUT_WAITING_BYTES_MAX && !this.#isClosed) return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #resume(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

/** The input of one channel, for one reader. Pauses a client that sends faster than it is read. */
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

  /** Input that has arrived is still read. */
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

/** One socket that several inputs can pause: it resumes when none does. */
export function sharedHold(socket: Pick<ChannelSocket, "pause" | "resume">): Pick<ChannelSocket, "pause" | "resume"> {
  let holders = 0;
  return {
    pause: () => void (holders++ === 0 && socket.pause()),
    resume: () => void (--holders === 0 && socket.resume()),
  };
}
