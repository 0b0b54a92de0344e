/**
 * Exec and attach over SPDY: the client opens one stream each for stdin, stdout, stderr, terminal sizes, and the result: a Status (v4), or
 * an error text (before). Closing its stream ends stdin. Not here: running a command (the runtime), the same over a WebSocket
 * (exec-channels.ts).
 */
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { Clock } from "../../../base/clock.ts";
import { discard } from "../../../host/network/byte-streams.ts";
import type { HttpRequest, TunnelOffer } from "../../../host/http/contract.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { SpdySession, SpdyStream } from "../../../host/spdy/contract.ts";
import { spdySession } from "../../../host/spdy/session.ts";
import { execFailure, execOutcome, type ExecChannels } from "../../exec/exec-channels.ts";
import type { ExecStreams } from "../../contracts/runtime.ts";
import { TerminalSizes } from "../../exec/terminal-sizes.ts";
import type { OpenStreams } from "./open-streams.ts";
import { chooseStreamProtocol, switchToSpdy } from "./stream-protocols.ts";

/** In order of preference. v5 differs only over WebSockets. */
export const REMOTE_COMMAND_PROTOCOLS = ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"] as const;
export type RemoteCommandProtocol = (typeof REMOTE_COMMAND_PROTOCOLS)[number];

/** Timeout for the client to open its streams. Upstream's. */
const STREAM_TIMEOUT_MS = 30_000;

/** Runs a command (with an exit code) or attaches to one (without). The signal aborts when the client disconnects. */
export type RemoteCommand = (streams: ExecStreams, signal: AbortSignal) => Promise<number | void>;

export interface RemoteCommandCall {
  readonly request: HttpRequest;
  readonly tunnel: TunnelOffer;
  readonly streams: OpenStreams;
  readonly channels: ExecChannels;
  readonly run: RemoteCommand;
}

/** Throws a Refusal if there is no common protocol. */
export async function serveRemoteCommandOverSpdy({ request, tunnel, streams, channels, run }: RemoteCommandCall): Promise<void> {
  const protocol = chooseStreamProtocol(request, REMOTE_COMMAND_PROTOCOLS);
  await joinRemoteCommand(streams.bytes(await switchToSpdy(tunnel, protocol)), { protocol, channels }, run);
}

export interface RemoteCommandOptions {
  readonly protocol: RemoteCommandProtocol;
  readonly channels: ExecChannels;
  readonly clock?: Clock;
}

/** Connects the command to the client, sends its result, and closes the connection. Never rejects. */
export async function joinRemoteCommand(connection: ByteStream, options: RemoteCommandOptions, run: RemoteCommand): Promise<void> {
  const session = spdySession(connection, { role: "server" });
  const disconnected = new AbortController();
  void session.closed.then(() => disconnected.abort(new Error("The client disconnected")));
  const streams = await expectedStreams(session, wanted(options), options.clock ?? realClock, disconnected.signal);
  if (streams === undefined) return session.abort();
  const outcome = await outcomeOf(run(execStreams(streams, options.channels), disconnected.signal));
  const message = options.protocol === "v4.channel.k8s.io" ? JSON.stringify(outcome) : (outcome.message ?? "");
  const { error, ...others } = streams;
  for (const stream of Object.values(others)) stream.end();
  if (message !== "") await error?.write(new TextEncoder().encode(message)).catch(() => undefined);
  error?.end();
  session.close();
  await session.closed;
}

type StreamType = "error" | "stdin" | "stdout" | "stderr" | "resize";
type Streams = Readonly<Partial<Record<StreamType, SpdyStream>>>;

function wanted({ protocol, channels: { stdin, stdout, stderr, tty } }: RemoteCommandOptions): readonly StreamType[] {
  const hasSizes = protocol === "v4.channel.k8s.io" || protocol === "v3.channel.k8s.io";
  return [
    "error",
    ...(stdin === true ? (["stdin"] as const) : []),
    ...(stdout === true ? (["stdout"] as const) : []),
    // A terminal has no separate stderr.
    ...(stderr === true && tty !== true ? (["stderr"] as const) : []),
    ...(tty === true && hasSizes ? (["resize"] as const) : []),
  ];
}

/** Undefined if the client does not open them before the timeout. Unexpected and duplicate streams are rejected. */
async function expectedStreams(
  session: SpdySession,
  types: readonly StreamType[],
  clock: Clock,
  disconnected: AbortSignal,
): Promise<Streams | undefined> {
  const found: Partial<Record<StreamType, SpdyStream>> = {};
  const complete = new AbortController();
  session.onStream((stream) => {
    const type = types.find((name) => name === stream.headers["streamtype"]);
    if (type === undefined || found[type] !== undefined) return stream.reset();
    found[type] = stream;
    // Input on the other streams is discarded.
    if (type !== "stdin" && type !== "resize") void discard(stream.input);
    if (types.every((name) => found[name] !== undefined)) complete.abort();
  });
  await clock.sleep(STREAM_TIMEOUT_MS, AbortSignal.any([complete.signal, disconnected])).catch(() => undefined);
  return complete.signal.aborted ? found : undefined;
}

function execStreams({ stdin, stdout, stderr, resize }: Streams, { tty }: ExecChannels): ExecStreams {
  const nowhere = (): void => undefined;
  const output = stdout === undefined ? nowhere : (chunk: Uint8Array) => stdout.write(chunk);
  return {
    ...(stdin === undefined ? {} : { input: stdin.input }),
    output,
    error: tty === true ? output : stderr === undefined ? nowhere : (chunk) => stderr.write(chunk),
    ...(tty === true ? { tty } : {}),
    ...(resize === undefined ? {} : { sizes: sizesOf(resize) }),
  };
}

/** A size is a few bytes; an endless line is not a size. */
const SIZE_LINE_BYTES_MAX = 1_024;

/** One JSON object per line. */
function sizesOf({ input }: SpdyStream): TerminalSizes {
  const sizes = new TerminalSizes();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let partial = "";
    for await (const chunk of input) {
      const lines = (partial + decoder.decode(chunk, { stream: true })).split("\n");
      partial = lines.pop() ?? "";
      for (const line of lines) sizes.take(new TextEncoder().encode(line));
      if (partial.length > SIZE_LINE_BYTES_MAX) return;
    }
  };
  // A broken connection ends the sizes; the readers of other streams get the error.
  void read()
    .catch(() => undefined)
    .finally(() => sizes.end());
  return sizes;
}

async function outcomeOf(running: Promise<number | void>): Promise<ReturnType<typeof execOutcome>> {
  try {
    return execOutcome((await running) ?? 0);
  } catch (error) {
    return execFailure(error);
  }
}
