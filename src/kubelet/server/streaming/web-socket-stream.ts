/**
 * The binary messages of a WebSocket as one byte stream: the transport of SPDY inside it (SPDY/3.1+portforward.k8s.io). A WebSocket cannot
 * be half-closed, so ending sends a close frame; data that the client sent before its own close frame can still be read.
 */
import type { ByteStream } from "../../../base/byte-stream.ts";
import { ByteInbox } from "../../../host/network/byte-inbox.ts";
import type { WebSocketConnection } from "../../../host/http/contract.ts";

/** High-water mark of received, unread bytes: above it the client is paused. */
const INPUT_WAITING_BYTES_MAX = 256 << 10;
/** High-water mark of sent, unreceived bytes: above it the writer is paused. */
const OUTPUT_WAITING_BYTES_MAX = 256 << 10;
/** Overhead per message, so that many tiny ones are not free. */
const MESSAGE_COST_BYTES = 128;
/** WebSocket close code "unsupported data". */
const UNSUPPORTED_DATA = 1003;

export function webSocketStream(socket: WebSocketConnection): ByteStream {
  const output = new Output(socket);
  let waitingBytes = 0;
  const inbox = new ByteInbox((message) => {
    const wasFull = waitingBytes > INPUT_WAITING_BYTES_MAX;
    waitingBytes -= message.length + MESSAGE_COST_BYTES;
    if (wasFull && waitingBytes <= INPUT_WAITING_BYTES_MAX) socket.resume();
  });
  const closed = new Promise<void>((resolve) => socket.onClosed(resolve));
  socket.onClosed(() => {
    inbox.end();
    output.close();
  });
  socket.onMessage((message, { binary }) => {
    if (!binary) return socket.close(UNSUPPORTED_DATA, "Only binary messages are understood");
    waitingBytes += message.length + MESSAGE_COST_BYTES;
    inbox.push(message);
    if (waitingBytes > INPUT_WAITING_BYTES_MAX) socket.pause();
  });
  return {
    input: inbox,
    write: (chunk) => output.write(chunk),
    end() {
      output.end();
      // A paused socket would not receive the answer to its close frame.
      socket.resume();
    },
    abort() {
      inbox.drop(new Error("The WebSocket was aborted"));
      socket.abort();
    },
    closed,
  };
}

class Output {
  readonly #socket: WebSocketConnection;
  #isOver = false;
  #writers: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

  constructor(socket: WebSocketConnection) {
    this.#socket = socket;
    socket.onDrained(() => {
      for (const { resolve } of this.#writers.splice(0)) resolve();
    });
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#isOver) return Promise.reject(new Error("The WebSocket is closed"));
    const waitingBytes = this.#socket.send(chunk, { binary: true });
    if (waitingBytes <= OUTPUT_WAITING_BYTES_MAX) return Promise.resolve();
    return new Promise((resolve, reject) => this.#writers.push({ resolve, reject }));
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.close();
  }

  close(): void {
    this.#isOver = true;
    for (const { reject } of this.#writers.splice(0)) reject(new Error("The WebSocket is closed"));
  }
}
