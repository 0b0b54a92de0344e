/**
 * The protocol of exec and attach over a WebSocket. Channel 0 is stdin; 1, 2 and 3 are stdout, stderr and the outcome, a Status; 4 is the
 * size of the client's terminal. Since v5 a client can close a channel: [255, channel]. Before v4 the outcome is only a failure, as text.
 * Errors are reported as outcomes: a client whose WebSocket is rejected would retry with older protocols and not show the reason. Not here:
 * how a command runs (the runtime), and how channels share a socket (web-socket-channels.ts).
 */
import type { PodExecOptions } from "../../api/generated/core/v1.ts";
import { internalError, isStatusError, type Status } from "../../api/machinery/status-error.ts";
import { BASE64, BINARY, ChannelInput, ChannelOutlet, NORMAL_CLOSURE, type ChannelSocket, type Framing } from "./web-socket-channels.ts";
import type { ExecStreams } from "../contracts/runtime.ts";
import { TerminalSizes } from "./terminal-sizes.ts";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const OUTCOME = 3;
const SIZES = 4;
const CLOSE = 255;

interface ProtocolFacts {
  readonly framing: Framing;
  /** Whether the outcome is a Status; otherwise it is the message of a failure. */
  readonly hasStatus: boolean;
  readonly closesChannels: boolean;
}

const OLD: ProtocolFacts = { framing: BINARY, hasStatus: false, closesChannels: false };

const PROTOCOLS = {
  "v5.channel.k8s.io": { framing: BINARY, hasStatus: true, closesChannels: true },
  "v4.channel.k8s.io": { framing: BINARY, hasStatus: true, closesChannels: false },
  "v4.base64.channel.k8s.io": { framing: BASE64, hasStatus: true, closesChannels: false },
  "channel.k8s.io": OLD,
  "base64.channel.k8s.io": { ...OLD, framing: BASE64 },
  // For a client that names no protocol.
  "": OLD,
} as const satisfies Record<string, ProtocolFacts>;

export type ExecProtocol = keyof typeof PROTOCOLS;

/** Protocols with a name. */
export const EXEC_PROTOCOLS: readonly string[] = Object.keys(PROTOCOLS).filter((name) => name !== "");

/** v5 if the client supports it, otherwise its first choice; undefined if there is no common protocol. */
export function chooseProtocol(offered: readonly string[]): ExecProtocol | undefined {
  if (offered.includes("v5.channel.k8s.io")) return "v5.channel.k8s.io";
  return (offered.length === 0 ? [""] : offered).find((name): name is ExecProtocol => Object.hasOwn(PROTOCOLS, name));
}

/** Runs a command; resolves with its exit code. The signal aborts when the client disconnects. */
export type ExecRun = (streams: ExecStreams, signal: AbortSignal) => Promise<number>;

export type ExecChannels = Pick<PodExecOptions, "stdin" | "stdout" | "stderr" | "tty">;

/** Connects the command to the client, reports the outcome, and closes the socket. Never rejects. */
export async function serveExec(
  socket: ChannelSocket,
  channels: ExecChannels,
  run: ExecRun,
  protocol: ExecProtocol = "v5.channel.k8s.io",
): Promise<void> {
  const { framing, hasStatus } = PROTOCOLS[protocol];
  const disconnected = new AbortController();
  const outlet = new ChannelOutlet(socket, framing);
  const incoming = new ExecInput(socket, channels, PROTOCOLS[protocol]);
  socket.onClosed(() => {
    disconnected.abort(new Error("The client disconnected"));
    incoming.end();
  });
  sendFirstMessage(outlet, channels);
  const outcome = await outcomeOf(() => run(streamsOf(outlet, incoming, channels), disconnected.signal));
  const words = hasStatus ? JSON.stringify(outcome) : (outcome.message ?? "");
  if (words !== "") void outlet.write(OUTCOME, new TextEncoder().encode(words));
  incoming.end();
  // A paused socket would never receive the client's close message.
  socket.resume();
  socket.close(NORMAL_CLOSURE);
}

/** Clients may wait for a first message before they start: an empty one, as upstream. */
function sendFirstMessage(outlet: ChannelOutlet, { stdout, stderr }: ExecChannels): void {
  void outlet.write(stdout === true ? STDOUT : stderr === true ? STDERR : OUTCOME, new Uint8Array());
}

function streamsOf(outlet: ChannelOutlet, { stdin, sizes }: ExecInput, { stdout, stderr, tty }: ExecChannels): ExecStreams {
  const write = (channel: number) => (chunk: Uint8Array) => outlet.write(channel, chunk);
  const nowhere = (): void => undefined;
  return {
    ...(stdin === undefined ? {} : { input: stdin }),
    output: stdout === true ? write(STDOUT) : nowhere,
    // A terminal has a single output stream.
    error: tty === true ? write(STDOUT) : stderr === true ? write(STDERR) : nowhere,
    ...(tty === true ? { tty, sizes } : {}),
  };
}

/** Messages from the client by channel. */
class ExecInput {
  /** Undefined: stdin was not requested, and its messages are dropped. */
  readonly stdin: ChannelInput | undefined;
  readonly sizes = new TerminalSizes();

  constructor(socket: ChannelSocket, { stdin }: ExecChannels, { framing, closesChannels }: ProtocolFacts) {
    this.stdin = stdin === true ? new ChannelInput(socket) : undefined;
    socket.onMessage((message) => {
      const { channel, payload } = framing.read(message) ?? NOTHING;
      if (channel === STDIN) this.stdin?.take(payload);
      else if (channel === SIZES) this.sizes.take(payload);
      else if (channel === CLOSE && closesChannels && payload[0] === STDIN) this.stdin?.end();
    });
  }

  end(): void {
    this.stdin?.end();
    this.sizes.end();
  }
}

const NOTHING = { channel: -1, payload: new Uint8Array() };

type Outcome = Omit<Status, "kind" | "apiVersion">;

async function outcomeOf(run: () => Promise<number>): Promise<Outcome> {
  try {
    return execOutcome(await run());
  } catch (error) {
    return execFailure(error);
  }
}

/** The outcome of a command that exited. */
export function execOutcome(exitCode: number): Outcome {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

/** The outcome of a command that could not run. */
export function execFailure(error: unknown): Outcome {
  return (isStatusError(error) ? error : internalError(error)).toStatus();
}
