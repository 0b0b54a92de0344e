/**
 * Streams of commands and ports with the runtime's streaming server, at the URL that it returned for Exec, Attach or PortForward: SPDY,
 * because containerd before 2 closes a command's stdin only over that. Backpressure applies in both directions. Not here: requesting the
 * URL (the CRI call), and authorization.
 */
import { onAbort } from "../../../base/abort.ts";
import type { ByteStream } from "../../../base/byte-stream.ts";
import { discard } from "../../../host/network/byte-streams.ts";
import type { SpdySession, SpdyStream } from "../../../host/spdy/contract.ts";
import { spdySession } from "../../../host/spdy/session.ts";
import { openTunnel } from "../../../host/http/client/upgrade-client.ts";
import { RuntimeError, type ExecStreams, type TerminalSize } from "../../contracts/runtime.ts";
import { exitCodeOf } from "./remote-outcome.ts";

/** The only protocol version with exit codes; every runtime of the last years implements it. */
const REMOTE_COMMAND_PROTOCOL = "v4.channel.k8s.io";
const PORT_FORWARD_PROTOCOL = "portforward.k8s.io";

/** Maximum size of the exit status: a Status is short. */
const OUTCOME_BYTES_MAX = 64 << 10;

/**
 * Resolves with the command's exit code. The request to the runtime must match the streams here: stdin if `streams` has one, stdout, and
 * stderr unless it has a terminal. Rejects with a RuntimeError, the error of a stream, or the signal's reason.
 */
export function streamExec(url: string, streams: ExecStreams, signal: AbortSignal): Promise<number> {
  return withSession(url, REMOTE_COMMAND_PROTOCOL, signal, (session) => remoteCommand(session, streams));
}

/** Resolves when the container's process has exited or closed its streams. */
export async function streamAttach(url: string, streams: ExecStreams, signal: AbortSignal): Promise<void> {
  await withSession(url, REMOTE_COMMAND_PROTOCOL, signal, (session) => remoteCommand(session, streams));
}

/**
 * Copies bytes until the port's side closes. Rejects with a RuntimeError with the runtime's own message if there is no listener at the
 * port.
 */
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
  if (!URL.canParse(url))
    throw new RuntimeError("CannotRun", `Cannot connect to the runtime's streaming server at "${url}": it must be an absolute URL`);
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
  // Not awaited: the command may exit before its input ends.
  if (stdin !== undefined) void send(stdin, streams.input, (chunk) => chunk);
  if (resize !== undefined) void send(resize, streams.sizes, sizeLine);
  const [outcome] = await Promise.all([
    textOf(error),
    pour(stdout.input, (chunk) => streams.output(chunk)),
    stderr === undefined ? undefined : pour(stderr.input, (chunk) => streams.error(chunk)),
  ]);
  return exitCodeOf(outcome);
}

/** One JSON object per line. */
function sizeLine({ width, height }: TerminalSize): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ Width: width, Height: height })}\n`);
}

/** Copies data until the stream ends or is reset: runtimes close the streams of a command either way. Rejects only if `sink` does. */
async function pour(input: AsyncIterable<Uint8Array>, sink: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
  const reader = input[Symbol.asyncIterator]();
  for (;;) {
    const next = await reader.next().catch(() => ({ done: true, value: undefined }) as const);
    if (next.done === true) return;
    await sink(next.value);
  }
}

async function textOf({ input }: SpdyStream): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  await pour(input, (chunk) => {
    if (text.length < OUTCOME_BYTES_MAX) text += decoder.decode(chunk, { stream: true });
  });
  return text;
}

/** Copies all of `source`, then closes. Never rejects: the reader of the other side sees its errors. */
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
  const failure = textOf(error);
  const outgoing = (async (): Promise<void> => {
    for await (const chunk of stream.input) await data.write(chunk);
    data.end();
  })();
  // An error of the caller's side closes the runtime's; a close by the runtime is no failure of the caller's side.
  outgoing.catch(() => data.abort());
  await pour(data.input, (chunk) => stream.write(chunk));
  const message = await failure;
  if (message !== "") throw new RuntimeError("CannotRun", message);
  stream.end();
}
