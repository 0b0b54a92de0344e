/**
 * The protocol of exec and attach over a WebSocket. Input comes on channel 0; output, errors and at the end the outcome, a Status, go out
 * on 1, 2 and 3. The sizes of the client's terminal come on 4. Since v5 a client can end a channel: [255, channel]. Clients before v4 are
 * told as outcome only what went wrong, as a text.
 * What goes wrong is an outcome, too: a client that is refused the WebSocket itself would try older protocols and not tell why.
 * Not here: how a command runs (the runtime), and how channels share a socket (channels.ts).
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
  /** Whether the outcome is a Status; otherwise it is the words of a failure. */
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
  // Of a client that names none.
  "": OLD,
} as const satisfies Record<string, ProtocolFacts>;

export type ExecProtocol = keyof typeof PROTOCOLS;

/** Those that have a name. */
export const EXEC_PROTOCOLS: readonly string[] = Object.keys(PROTOCOLS).filter((name) => name !== "");

/** v5 if the client speaks it, otherwise what it likes best; undefined if there is none that both sides speak. */
export function chooseProtocol(offered: readonly string[]): ExecProtocol | undefined {
  if (offered.includes("v5.channel.k8s.io")) return "v5.channel.k8s.io";
  return (offered.length === 0 ? [""] : offered).find((name): name is ExecProtocol => Object.hasOwn(PROTOCOLS, name));
}

/** Runs a command; resolves with its exit code. The signal comes when the client has gone. */
export type ExecRun = (streams: ExecStreams, signal: AbortSignal) => Promise<number>;

export type ExecChannels = Pick<PodExecOptions, "stdin" | "stdout" | "stderr" | "tty">;

/** Joins the command to the client, tells how it ended, and closes the socket. Never rejects. */
export async function serveExec(
  socket: ChannelSocket,
  channels: ExecChannels,
  run: ExecRun,
  protocol: ExecProtocol = "v5.channel.k8s.io",
): Promise<void> {
  const { framing, hasStatus } = PROTOCOLS[protocol];
  const gone = new AbortController();
  const outlet = new ChannelOutlet(socket, framing);
  const incoming = new ExecInput(socket, channels, PROTOCOLS[protocol]);
  socket.onClosed(() => {
    gone.abort(new Error("The client has gone"));
    incoming.end();
  });
  tellBegin(outlet, channels);
  const outcome = await outcomeOf(() => run(streamsOf(outlet, incoming, channels), gone.signal));
  const words = hasStatus ? JSON.stringify(outcome) : (outcome.message ?? "");
  if (words !== "") void outlet.write(OUTCOME, new TextEncoder().encode(words));
  incoming.end();
  // A socket that is held up would never hear the client's goodbye.
  socket.resume();
  socket.close(NORMAL_CLOSURE);
}

/** Clients may wait for a first message to know that there is somebody: an empty one, as upstream. */
function tellBegin(outlet: ChannelOutlet, { stdout, stderr }: ExecChannels): void {
  void outlet.write(stdout === true ? STDOUT : stderr === true ? STDERR : OUTCOME, new Uint8Array());
}

function streamsOf(outlet: ChannelOutlet, { stdin, sizes }: ExecInput, { stdout, stderr, tty }: ExecChannels): ExecStreams {
  const write = (channel: number) => (chunk: Uint8Array) => outlet.write(channel, chunk);
  const nowhere = (): void => undefined;
  return {
    ...(stdin === undefined ? {} : { input: stdin }),
    output: stdout === true ? write(STDOUT) : nowhere,
    // A terminal has one way out.
    error: tty === true ? write(STDOUT) : stderr === true ? write(STDERR) : nowhere,
    ...(tty === true ? { tty, sizes } : {}),
  };
}

/** What a client sends, by channel. */
class ExecInput {
  /** Undefined: none is wanted, and what comes is dropped. */
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

/** How a command ended, as clients are told. */
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

/** Why one could not be run. */
export function execFailure(error: unknown): Outcome {
  return (isStatusError(error) ? error : internalError(error)).toStatus();
}
