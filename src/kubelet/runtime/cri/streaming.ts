/**
 * Streams of commands and ports with the runtime's own streaming server, at the address that it answered to Exec, Attach or PortForward:
 * SPDY, because containerd before 2 ends a command's input only over that. Whoever does not read holds up the command, and a command that
 * does not read holds up whoever writes. Not here: asking for the address (the CRI call), and who may.
 */
import { onAbort } from "../../../base/abort.ts";
import type { ByteStream } from "../../../base/byte-stream.ts";
import { discard } from "../../../host/network/byte-streams.ts";
import type { SpdySession, SpdyStream } from "../../../host/spdy/contract.ts";
import { spdySession } from "../../../host/spdy/session.ts";
import { openTunnel } from "../../../host/http/client/upgrade-client.ts";
import { RuntimeError, type ExecStreams, type TerminalSize } from "../../contracts/runtime.ts";
import { exitCodeOf } from "./remote-outcome.ts";

/** The only one that tells exit codes; every runtime of the last years speaks it. */
const REMOTE_COMMAND_PROTOCOL = "v4.channel.k8s.io";
const PORT_FORWARD_PROTOCOL = "portforward.k8s.io";

/** Of what the runtime says about the outcome: a Status is short. */
const OUTCOME_BYTES_MAX = 64 << 10;

/**
 * Resolves with the command's exit code. What was asked of the runtime must be what there is here: input if `streams` has one, output, and
 * errors unless it has a terminal. Rejects with a RuntimeError, what a stream threw, or the signal's reason.
 */
export function streamExec(url: string, streams: ExecStreams, signal: AbortSignal): Promise<number> {
  return withSession(url, REMOTE_COMMAND_PROTOCOL, signal, (session) => remoteCommand(session, streams));
}

/** Resolves when the container's process has ended, or let go of its streams. */
export async function streamAttach(url: string, streams: ExecStreams, signal: AbortSignal): Promise<void> {
  await withSession(url, REMOTE_COMMAND_PROTOCOL, signal, (session) => remoteCommand(session, streams));
}

/** Moves bytes until the port's side ends. Rejects with a RuntimeError in the runtime's own words if there is nobody at the port. */
export function streamPortForward(url: string, port: number, stream: ByteStream, signal: AbortSignal): Promise<void> {
  return withSession(url, PORT_FORWARD_PROTOCOL, signal, (session) => forwardedPort(session, port, stream));
}

async function withSession<T>(url: string, protocol: string, signal: AbortSignal, use: (session: SpdySession) => Promise<T>): Promise<T> {
  const session = await openSession(url, protocol, signal);
  const stop = onAbort(signal, () => session.abort());
  try {
    signal.throwIfAborted();
    const result = await use(session);
    session.close();
    return result;
  } catch (error) {
    session.abort();
    signal.throwIfAborted();
    throw error;
  } finally {
    stop();
  }
}

async function openSession(url: string, protocol: string, signal: AbortSignal): Promise<SpdySession> {
  if (!URL.canParse(url)) throw new RuntimeError("CannotRun", `Cannot reach the runtime's streams at "${url}": it must be a whole address`);
  const { protocol: scheme, hostname, port, pathname, search } = new URL(url);
  const isSecure = scheme === "https:";
  const answer = await openTunnel({
    scheme: isSecure ? "https" : "http",
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? (isSecure ? 443 : 80) : Number(port),
    method: "POST",
    path: `${pathname}${search}`,
    headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol },
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new RuntimeError("Unavailable", `error dialing backend: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  if ("stream" in answer) return spdySession(answer.stream, { role: "client" });
  throw new RuntimeError("CannotRun", `unable to upgrade connection: ${new TextDecoder().decode(answer.body).trim()}`);
}

async function remoteCommand(session: SpdySession, streams: ExecStreams): Promise<number> {
  const isTerminal = streams.tty === true;
  const [error, stdout, stdin, stderr, resize] = await Promise.all([
    session.open({ streamtype: "error" }),
    session.open({ streamtype: "stdout" }),
    streams.input === undefined ? undefined : session.open({ streamtype: "stdin" }),
    isTerminal ? undefined : session.open({ streamtype: "stderr" }),
    isTerminal ? session.open({ streamtype: "resize" }) : undefined,
  ]);
  // Not waited for: the command may end before its input does.
  if (stdin !== undefined) void send(stdin, streams.input, (chunk) => chunk);
  if (resize !== undefined) void send(resize, streams.sizes, sizeLine);
  const [outcome] = await Promise.all([
    words(error),
    pour(stdout.input, (chunk) => streams.output(chunk)),
    stderr === undefined ? undefined : pour(stderr.input, (chunk) => streams.error(chunk)),
  ]);
  return exitCodeOf(outcome);
}

/** One JSON object per line. */
function sizeLine({ width, height }: TerminalSize): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ Width: width, Height: height })}\n`);
}

/** What comes until it ends or is reset: runtimes end the streams of a command either way. Rejects only if `sink` does. */
async function pour(input: AsyncIterable<Uint8Array>, sink: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
  const reader = input[Symbol.asyncIterator]();
  for (;;) {
    const next = await reader.next().catch(() => ({ done: true, value: undefined }) as const);
    if (next.done === true) return;
    await sink(next.value);
  }
}

async function words({ input }: SpdyStream): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  await pour(input, (chunk) => {
    if (text.length < OUTCOME_BYTES_MAX) text += decoder.decode(chunk, { stream: true });
  });
  return text;
}

/** All of `source`, and then the end. Never rejects: that the other side wants no more is seen by who reads from it. */
async function send<T>(stream: SpdyStream, source: AsyncIterable<T> | undefined, bytesOf: (item: T) => Uint8Array): Promise<void> {
  void discard(stream.input);
  try {
    for await (const item of source ?? []) await stream.write(bytesOf(item));
    stream.end();
  } catch {
    stream.abort();
  }
}

async function forwardedPort(session: SpdySession, port: number, stream: ByteStream): Promise<void> {
  const headers = { port: String(port), requestid: "0" };
  const [error, data] = await Promise.all([
    session.open({ ...headers, streamtype: "error" }),
    session.open({ ...headers, streamtype: "data" }),
  ]);
  error.end();
  const failure = words(error);
  const outgoing = (async (): Promise<void> => {
    for await (const chunk of stream.input) await data.write(chunk);
    data.end();
  })();
  // What cuts the caller's side ends the runtime's; what the runtime ends is no failure of the caller's side.
  outgoing.catch(() => data.abort());
  await pour(data.input, (chunk) => stream.write(chunk));
  const message = await failure;
  if (message !== "") throw new RuntimeError("CannotRun", message);
  stream.end();
}
