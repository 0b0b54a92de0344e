/** A client at the other end of a WebSocket with channels: records the received messages and sends its own. */
import { BINARY, type ChannelSocket, type Framing } from "../exec/web-socket-channels.ts";

const encoder = new TextEncoder();

export class ChannelClient implements ChannelSocket {
  /** Without the empty messages that open each channel. */
  readonly got: [channel: number, text: string][] = [];
  /** Total size of all messages. */
  readonly channels: number[] = [];
  isPaused = false;
  end: number | "aborted" | undefined;
  /** Simulates that the client has not read this many bytes. */
  unreadBytes = 0;
  readonly #framing: Framing;
  readonly #hear: ((message: Uint8Array) => void)[] = [];
  readonly #closed: (() => void)[] = [];
  readonly #drained: (() => void)[] = [];

  constructor(framing: Framing = BINARY) {
    this.#framing = framing;
  }

  // Operations of the client.

  says(channel: number, content: string | readonly number[]): void {
    const payload = typeof content === "string" ? encoder.encode(content) : Uint8Array.from(content);
    this.saysRaw(this.#framing.frame({ channel, payload }));
  }

  saysRaw(message: Uint8Array): void {
    for (const hear of this.#hear) hear(message);
  }

  reads(): void {
    this.unreadBytes = 0;
    for (const drained of this.#drained) drained();
  }

  goes(): void {
    for (const closed of this.#closed) closed();
  }

  // Operations of the server on the socket.

  send(message: Uint8Array, { binary }: { readonly binary: boolean }): number {
    if (binary !== this.#framing.binary) throw new Error("The client received the wrong type of message");
    const { channel = -1, payload = new Uint8Array() } = this.#framing.read(message) ?? {};
    this.channels.push(channel);
    if (payload.length > 0) this.got.push([channel, new TextDecoder().decode(payload)]);
    return this.unreadBytes;
  }

  onMessage(listener: (message: Uint8Array) => void): void {
    this.#hear.push(listener);
  }

  onClosed(listener: () => void): void {
    this.#closed.push(listener);
  }

  onDrained(listener: () => void): void {
    this.#drained.push(listener);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(code?: number): void {
    this.end = code;
  }

  abort(): void {
    this.end = "aborted";
    this.goes();
  }
}
