/**
 * The protocol of exec over a WebSocket (v5.channel.k8s.io, v4.channel.k8s.io): every message begins with the number of its channel.
 * Input comes on 0; output, errors and at the end the outcome, a Status, go out on 1, 2 and 3. The sizes of the client's terminal come on
 * 4, and nobody needs them. Since v5 a client can end a channel: [255, channel].
 * What goes wrong is an outcome, too: a client that is refused the WebSocket itself would try older protocols and not tell why.
 * Not here: how a command runs (the runtime).
 */
import type { PodExecOptions } from "../api/generated/core/v1.ts";
import { internalError, isStatusError, type Status } from "../api/machinery/status-error.ts";
import type { ExecStreams } from "./runtime.ts";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const OUTCOME = 3;
const CLOSE = 255;

export const EXEC_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;
export type ExecProtocol = (typeof EXEC_PROTOCOLS)[number];

/** Input that waits for a command which does not read: from here on the client is held up. */
const INPUT_WAITING_BYTES_MAX = 1 << 20;
/** Output that waits for a client which does not read: commands cannot be held up, so the client is left behind. */
const OUTPUT_WAITING_BYTES_MAX = 64 << 20;
/** What a message costs besides its bytes, so that many empty ones are not free. */
const MESSAGE_COST_BYTES = 128;
/** WebSocket's code for an end as it should be. */
const NORMAL_CLOSURE = 1000;

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
}

/** The newest that both sides speak; undefined if there is none. */
export function chooseProtocol(offered: readonly string[]): ExecProtocol | undefined {
  return EXEC_PROTOCOLS.find((protocol) => offered.includes(protocol));
}

/** Runs a command; resolves with its exit code. The signal comes when the client has gone. */
export type ExecRun = (streams: ExecStreams, signal: AbortSignal) => Promise<number>;

export type ExecChannels = Pick<PodExecOptions, "stdin" | "stdout" | "stderr" | "tty">;

/** Joins the command to the client, tells how it ended, and closes the socket. Never rejects. */
export async function serveExec(socket: ChannelSocket, channels: ExecChannels, run: ExecRun): Promise<void> {
  const gone = new AbortController();
  const input = new ChannelInput(socket);
  socket.onMessage((message) => input.take(message));
  socket.onClosed(() => {
    gone.abort(new Error("The client has gone"));
    input.end();
  });
  const write = (channel: number) => (chunk: Uint8Array) => {
    if (send(socket, channel, chunk) > OUTPUT_WAITING_BYTES_MAX) socket.abort();
  };
  const nowhere = (): void => undefined;
  const outcome = await outcomeOf(
    run(
      {
        ...(channels.stdin === true ? { input } : {}),
        output: channels.stdout === true ? write(STDOUT) : nowhere,
        // A terminal has one way out.
        error: channels.tty === true ? write(STDOUT) : channels.stderr === true ? write(STDERR) : nowhere,
      },
      gone.signal,
    ),
  );
  send(socket, OUTCOME, new TextEncoder().encode(JSON.stringify(outcome)));
  input.end();
  // A socket that is held up would never hear the client's goodbye.
  socket.resume();
  socket.close(NORMAL_CLOSURE);
}

function send(socket: ChannelSocket, channel: number, payload: Uint8Array): number {
  const message = new Uint8Array(1 + payload.length);
  message[0] = channel;
  message.set(payload, 1);
  return socket.send(message, { binary: true });
}

type Outcome = Omit<Status, "kind" | "apiVersion">;

async function outcomeOf(running: Promise<number>): Promise<Outcome> {
  try {
    const exitCode = await running;
    return exitCode === 0 ? { metadata: {}, status: "Success" } : failed(exitCode);
  } catch (error) {
    return (isStatusError(error) ? error : internalError(error)).toStatus();
  }
}

function failed(exitCode: number): Outcome {
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

/** The input of a command, for one reader. It holds up a client who sends faster than it is read. */
class ChannelInput implements AsyncIterable<Uint8Array> {
  readonly #socket: ChannelSocket;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(socket: ChannelSocket) {
    this.#socket = socket;
  }

  /** A message of any channel. */
  take(message: Uint8Array): void {
    if (message[0] === CLOSE && message[1] === STDIN) return this.end();
    if (message[0] !== STDIN || message.length === 1 || this.#isEnded) return;
    this.#waiting.push(message.subarray(1));
    this.#waitingBytes += message.length + MESSAGE_COST_BYTES;
    if (this.#waitingBytes > INPUT_WAITING_BYTES_MAX) this.#socket.pause();
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunks = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      if (chunks.length > 0) this.#socket.resume();
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
      yield* chunks;
    }
  }
}
