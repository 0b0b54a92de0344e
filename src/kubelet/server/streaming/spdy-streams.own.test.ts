import assert from "node:assert/strict";
import test from "node:test";
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { WebSocketConnection } from "../../../host/http/contract.ts";
import type { SpdySession, SpdyStream } from "../../../host/spdy/contract.ts";
import { spdySession } from "../../../host/spdy/session.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import { readAll, streamPair } from "../../../testing/fixtures/stream-pair.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { ExecChannels } from "../../exec/exec-channels.ts";
import { servePortForward } from "./port-forward-spdy.ts";
import { joinRemoteCommand, REMOTE_COMMAND_PROTOCOLS, type RemoteCommand, type RemoteCommandProtocol } from "./remote-command-spdy.ts";
import { webSocketStream } from "./web-socket-stream.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const bytes = (words: string) => Buffer.from(words);
const ALL = { stdin: true, stdout: true, stderr: true };

interface Client {
  readonly session: SpdySession;
  readonly served: Promise<void>;
}

function command(run: RemoteCommand, channels: ExecChannels = ALL, protocol: RemoteCommandProtocol = "v4.channel.k8s.io"): Client {
  const [near, far] = streamPair();
  return { session: spdySession(near, { role: "client" }), served: joinRemoteCommand(far, { protocol, channels }, run) };
}

async function openAll<T extends string>({ session }: Client, ...types: readonly T[]): Promise<Record<T, SpdyStream>> {
  const opened = await Promise.all(types.map(async (type) => [type, await session.open({ streamtype: type })] as const));
  return Object.fromEntries(opened) as Record<T, SpdyStream>;
}

test("exec over SPDY passes stdin until the client closes it, and returns stdout, stderr and the result", async () => {
  const client = command(async ({ input, output, error }) => {
    for await (const chunk of input ?? []) await output(chunk);
    await error(bytes("that was all"));
    return 0;
  });

  const { error, stdin, stdout, stderr } = await openAll(client, "error", "stdin", "stdout", "stderr");
  await stdin.write(bytes("one "));
  await stdin.write(bytes("two"));
  stdin.end();

  assert.equal(text(await readAll(stdout.input)), "one two");
  assert.equal(text(await readAll(stderr.input)), "that was all");
  assert.deepEqual(JSON.parse(text(await readAll(error.input))), { metadata: {}, status: "Success" });
  await client.served;
});

for (const protocol of REMOTE_COMMAND_PROTOCOLS) {
  for (const [what, run, status, words] of [
    ["ends well", () => Promise.resolve(0), { status: "Success" }, ""],
    ["has no exit code", () => Promise.resolve(), { status: "Success" }, ""],
    [
      "ends badly",
      () => Promise.resolve(3),
      { status: "Failure", reason: "NonZeroExitCode", details: { causes: [{ reason: "ExitCode", message: "3" }] } },
      "command terminated with non-zero exit code: command terminated with exit code 3",
    ],
    [
      "cannot be run",
      () => Promise.reject(new Error("no such file")),
      { status: "Failure", reason: "InternalError" },
      "Internal error occurred: no such file",
    ],
  ] as const) {
    test(`over ${protocol} the result of a command that ${what} is sent to the client`, async () => {
      const { error } = await openAll(command(run, { stdout: false }, protocol), "error");
      const received = text(await readAll(error.input));

      if (protocol !== "v4.channel.k8s.io") return assert.equal(received, words);
      const outcome = JSON.parse(received) as Record<string, unknown>;
      for (const [name, value] of Object.entries(status)) if (name !== "details") assert.equal(outcome[name], value);
      if ("details" in status) assert.deepEqual(outcome["details"], status.details);
      assert.equal(outcome["message"] ?? "", words);
    });
  }
}

test("terminal sizes arrive in order, and a terminal has no separate stderr", async () => {
  const client = command(
    async ({ sizes, output, error, tty }) => {
      for await (const { width, height } of sizes ?? []) await output(bytes(`${width}x${height} `));
      await error(bytes(`tty ${String(tty)}`));
    },
    { stdout: true, tty: true },
  );

  const { stdout, resize } = await openAll(client, "error", "stdout", "resize");
  await resize.write(bytes('{"Width":80,"Hei'));
  await resize.write(bytes('ght":24}\n'));
  const reader = stdout.input[Symbol.asyncIterator]();
  assert.equal(text((await reader.next()).value as Uint8Array), "80x24 ");
  await resize.write(bytes('nonsense\n{"Width":100,"Height":30}\n'));
  resize.end();

  assert.equal(text((await reader.next()).value as Uint8Array), "100x30 ");
  assert.equal(text((await reader.next()).value as Uint8Array), "tty true");
});

test("unexpected and duplicate streams are rejected", async () => {
  const client = command(() => new Promise(() => undefined), { stdout: true });

  await openAll(client, "error");
  await assert.rejects(openAll(client, "stdin"), /reset/);
  await assert.rejects(openAll(client, "error"), /reset/);
  client.session.abort();
  await client.served;
});

test("a client disconnect aborts the command", async () => {
  let reason: unknown;
  const client = command(
    (_streams, signal) => new Promise((resolve) => signal.addEventListener("abort", () => ((reason = signal.reason), resolve(0)))),
    { stdout: true },
  );

  await openAll(client, "error", "stdout");
  client.session.abort();
  await client.served;

  assert.match(String(reason), /The client disconnected/);
});

test("a client that does not open its streams before the timeout is disconnected, and the command never runs", async () => {
  const clock = virtualClock();
  const [near, far] = streamPair();
  const session = spdySession(near, { role: "client" });
  const served = joinRemoteCommand(far, { protocol: "v4.channel.k8s.io", channels: ALL, clock }, () => assert.fail("it must not run"));
  await session.open({ streamtype: "error" });

  await clock.advance(30_000);

  await served;
  await session.closed;
});

function forwarding(forward: (port: number, stream: ByteStream) => Promise<void>, far: ByteStream, clock?: VirtualClock): Promise<void> {
  const describeFailure = (port: number, error: unknown) => `error forwarding port ${port}: ${(error as Error).message}`;
  return servePortForward(far, { forward, describeFailure, ...(clock === undefined ? {} : { clock }) });
}

async function echo(port: number, stream: ByteStream): Promise<void> {
  if (port !== 8080) throw new Error("connection refused");
  for await (const chunk of stream.input) await stream.write(chunk);
}

async function openPort(session: SpdySession, port: number, request?: string): Promise<{ data: SpdyStream; error: SpdyStream }> {
  const headers = { port: String(port), ...(request === undefined ? {} : { requestid: request }) };
  const error = await session.open({ ...headers, streamtype: "error" });
  error.end();
  return { error, data: await session.open({ ...headers, streamtype: "data" }) };
}

test("many port connections run concurrently, each with its own data and error", async () => {
  const [near, far] = streamPair();
  const session = spdySession(near, { role: "client" });
  const served = forwarding(echo, far);

  const received = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const { data, error } = await openPort(session, index % 10 === 0 ? 9999 : 8080, String(index));
      await data.write(bytes(`connection ${index}`)).catch(() => undefined);
      data.end();
      const answer = await readAll(data.input).then(text, () => "cut");
      return [answer, text(await readAll(error.input))];
    }),
  );

  assert.deepEqual(
    received,
    received.map((_, index) =>
      index % 10 === 0 ? ["cut", "error forwarding port 9999: connection refused"] : [`connection ${index}`, ""],
    ),
  );
  session.close();
  await served;
});

test("clients without request ids may open one pair after the other", async () => {
  const [near, far] = streamPair();
  const session = spdySession(near, { role: "client" });
  void forwarding(echo, far);
  const { data } = await openPort(session, 8080);

  await data.write(bytes("old"));
  data.end();

  assert.equal(text(await readAll(data.input)), "old");
});

for (const headers of [
  { streamtype: "data" },
  { streamtype: "data", port: "0" },
  { streamtype: "data", port: "65536" },
  { streamtype: "x", port: "80" },
  { port: "80" },
]) {
  test(`a stream with the headers ${JSON.stringify(headers)} is rejected`, async () => {
    const [near, far] = streamPair();
    void forwarding(echo, far);

    await assert.rejects(spdySession(near, { role: "client" }).open(headers), /reset/);
  });
}

test("a stream whose pair is incomplete gets a timeout error", async () => {
  const clock = virtualClock();
  const [near, far] = streamPair();
  const session = spdySession(near, { role: "client" });
  void forwarding(echo, far, clock);
  const error = await session.open({ streamtype: "error", port: "80", requestid: "7" });
  const data = await session.open({ streamtype: "data", port: "80", requestid: "8" });

  await clock.advance(30_000);

  assert.equal(text(await readAll(error.input)), "(request=7) timed out waiting for streams");
  await assert.rejects(readAll(data.input), /reset/);
});

/** A WebSocket whose peer is the test. */
function fakeWebSocket() {
  const listeners = {
    message: (_message: Uint8Array, _options: { binary: boolean }): void => undefined,
    closed: [] as (() => void)[],
    drained: (): void => undefined,
  };
  const seen: (string | Uint8Array)[] = [];
  const socket: WebSocketConnection & { waitingBytes: number } = {
    protocol: "",
    waitingBytes: 0,
    send(message) {
      seen.push(message);
      return (socket.waitingBytes += message.length);
    },
    onMessage: (listener) => (listeners.message = listener),
    pause: () => void seen.push("pause"),
    resume: () => void seen.push("resume"),
    close: (code = 1000) => void seen.push(`close ${code}`),
    abort: () => listeners.closed.forEach((listener) => listener()),
    onClosed: (listener) => void listeners.closed.push(listener),
    onDrained: (listener) => (listeners.drained = listener),
  };
  return { socket, listeners, seen };
}

test("binary WebSocket messages form one byte stream, with back-pressure to the client", async () => {
  const { socket, listeners, seen } = fakeWebSocket();
  const { input } = webSocketStream(socket);

  for (let count = 0; count < 5; count++) listeners.message(Buffer.alloc(64 << 10, count), { binary: true });
  assert.deepEqual(seen, ["pause", "pause"]);
  socket.abort();

  assert.equal((await readAll(input)).length, 5 * (64 << 10));
  assert.deepEqual(seen, ["pause", "pause", "resume"]);
});

test("a write to a WebSocket waits for the client to receive it, and fails after a disconnect", async () => {
  const { socket, listeners } = fakeWebSocket();
  const stream = webSocketStream(socket);
  let isWritten = false;

  await stream.write(Buffer.alloc(256 << 10));
  const second = stream.write(Buffer.alloc(1)).then(() => (isWritten = true));
  await new Promise(setImmediate);
  assert.equal(isWritten, false);
  listeners.drained();
  await second;
  const third = stream.write(Buffer.alloc(1));
  socket.abort();

  await assert.rejects(third, /The WebSocket is closed/);
  await stream.closed;
});

test("a text message closes the WebSocket", () => {
  const { socket, listeners, seen } = fakeWebSocket();
  webSocketStream(socket);

  listeners.message(bytes("text"), { binary: false });

  assert.deepEqual(seen, ["close 1003"]);
});
