import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { SpdySession } from "../../../host/spdy/contract.ts";
import { spdySession } from "../../../host/spdy/session.ts";
import { messagesOf, webSocketHeaders } from "../../../host/testing/plain-web-socket.ts";
import { openTunnel } from "../../../host/http/client/upgrade-client.ts";
import type { ExecStreams, Runtime, TerminalSize } from "../../contracts/runtime.ts";
import { aKubelet, serve, type Served } from "../testing/served.ts";

const encoder = new TextEncoder();

type Socket = ReturnType<Served["webSocket"]>;

/** Everything received until the close, by channel. */
async function receivedBy(socket: Socket): Promise<Record<number, string>> {
  const received: Record<number, string> = {};
  socket.on("message", (message: Buffer) => {
    const channel = message[0] ?? -1;
    received[channel] = `${received[channel] ?? ""}${message.toString("utf8", 1)}`;
  });
  await once(socket, "close");
  return received;
}

const echo: Runtime["exec"] = async (_id, command, { input, output, error }) => {
  await error(encoder.encode(command.join("|")));
  for await (const chunk of input ?? []) await output(chunk);
  return 0;
};

test("exec over a WebSocket passes arguments and stdin, and returns stdout, stderr and the result", async () => {
  const ids: string[] = [];
  await using server = await serve(
    aKubelet({
      exec(id, ...rest) {
        ids.push(id);
        return echo(id, ...rest);
      },
    }),
  );
  using client = server.webSocket("/exec/default/web/u-1/main?input=1&output=1&error=1&command=sh&command=-c&command=a%20b");
  const received = receivedBy(client);
  await once(client, "open");
  equal(client.protocol, "v5.channel.k8s.io");
  client.send("\u0000hello");
  client.ping();
  await once(client, "pong");
  client.send(Buffer.from([255, 0]));

  deepEqual([ids, await received], [["c-main"], { 1: "hello", 2: "sh|-c|a b", 3: '{"metadata":{},"status":"Success"}' }]);
});

test("a terminal has one output, and the command receives its sizes", async () => {
  const sizes: TerminalSize[] = [];
  const seen: (boolean | undefined)[] = [];
  const kubelet = aKubelet({
    async exec(_id, _command, streams) {
      seen.push(streams.tty);
      await streams.error(encoder.encode("on the terminal"));
      for await (const size of streams.sizes ?? []) {
        sizes.push(size);
        break;
      }
      return 5;
    },
  });
  await using server = await serve(kubelet);
  using client = server.webSocket("/exec/default/web/main?input=1&output=1&error=1&tty=1&command=sh");
  const received = receivedBy(client);
  await once(client, "open");
  client.send('\u0004{"Width":80,"Height":24}');
  const { 1: output, 2: error, 3: outcome = "" } = await received;

  deepEqual([seen, sizes, output, error], [[true], [{ width: 80, height: 24 }], "on the terminal", undefined]);
  match(outcome, /"message":"5"/);
});

test("attach joins the container's process, with a terminal if it has one", async () => {
  const joined: [string, boolean | undefined][] = [];
  const kubelet = aKubelet({
    async attach(id, { tty, output }) {
      joined.push([id, tty]);
      await output(encoder.encode(id));
    },
  });
  await using server = await serve(kubelet);
  const received: Record<number, string>[] = [];
  for (const name of ["main", "shell"]) {
    using client = server.webSocket(`/attach/default/web/${name}?output=1&error=1&tty=${name === "main" ? 1 : 0}`);
    received.push(await receivedBy(client));
  }

  deepEqual(joined, [
    ["c-main", undefined],
    ["c-shell", true],
  ]);
  deepEqual(
    received.map(({ 1: output, 3: outcome }) => [output, outcome]),
    ["c-main", "c-shell"].map((id) => [id, '{"metadata":{},"status":"Success"}']),
  );
});

test("attach is rejected by a runtime without processes, and a WebSocket with an unknown protocol is rejected", async () => {
  await using server = await serve(aKubelet());
  using attach = server.webSocket("/attach/default/web/main?output=1");
  const [, attaching] = (await once(attach, "unexpected-response")) as [unknown, { readonly statusCode: number }];
  using other = server.webSocket("/exec/default/web/main?output=1", ["v9.channel.k8s.io"]);
  const [, speaking] = (await once(other, "unexpected-response")) as [unknown, { readonly statusCode: number }];

  deepEqual([attaching.statusCode, speaking.statusCode], [500, 403]);
});

test("a client disconnect aborts its command", async () => {
  let ended = (): void => undefined;
  const over = new Promise<void>((resolve) => (ended = resolve));
  const kubelet = aKubelet({
    async exec(_id, _command, _streams, signal) {
      await once(signal, "abort");
      ended();
      return 137;
    },
  });
  await using server = await serve(kubelet);
  using client = server.webSocket("/exec/default/web/main?output=1&command=sleep");
  await once(client, "open");
  client.terminate();

  await over;
});

test("stopping the server closes its streams and aborts their commands", async () => {
  let ended = (): void => undefined;
  const over = new Promise<void>((resolve) => (ended = resolve));
  const kubelet = aKubelet({
    async exec(_id, _command, _streams, signal) {
      await once(signal, "abort");
      ended();
      return 137;
    },
  });
  const server = await serve(kubelet);
  using client = server.webSocket("/exec/default/web/main?output=1&command=sleep");
  await once(client, "message");
  const closed = once(client, "close");
  await server.close();

  deepEqual([(await closed)[0], await over], [1001, undefined]);
});

test("an idle stream is closed", async () => {
  const kubelet = aKubelet({
    async exec(_id, _command, _streams, signal) {
      await once(signal, "abort");
      return 0;
    },
  });
  await using server = await serve(kubelet, { streamIdleTimeoutMs: 50 });
  using client = server.webSocket("/exec/default/web/main?output=1&command=sleep");

  equal((await once(client, "close"))[0], 1001);
});

test("a slow client applies back-pressure to its command, and receives everything once it reads", async () => {
  const chunk = new Uint8Array(64 << 10).fill(120);
  const total = 1_024;
  let written = 0;
  let heldUp = (): void => undefined;
  const isHeldUp = new Promise<void>((resolve) => (heldUp = resolve));
  const kubelet = aKubelet({
    async exec(_id, _command, { output }) {
      for (; written < total; written++) {
        const taken = output(chunk);
        if (taken !== undefined) heldUp();
        await taken;
      }
      return 0;
    },
  });
  await using server = await serve(kubelet);
  using client = server.webSocket("/exec/default/web/main?output=1&command=yes");
  await once(client, "open");
  client.pause();
  await isHeldUp;
  await server.ask("/healthz");
  const whenHeldUp = written;
  let bytes = 0;
  client.on("message", (message: Buffer) => {
    if (message[0] === 1) bytes += message.length - 1;
  });
  client.resume();
  await once(client, "close");

  deepEqual([whenHeldUp < total, bytes], [true, total * chunk.length]);
});

// ── SPDY ────────────────────────────────────────────────────────────────────────────────────────────

async function spdyTo(
  server: Served,
  path: string,
  protocols: string,
): Promise<{ readonly session: SpdySession; readonly chosen: string | undefined }> {
  const answer = await openTunnel({
    ...{ scheme: "https", host: "127.0.0.1", port: server.port, tls: { authorities: server.authority }, method: "POST", path },
    headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocols },
    signal: new AbortController().signal,
  });
  if (!("stream" in answer)) throw new Error(`The server answered ${answer.code}: ${new TextDecoder().decode(answer.body)}`);
  return { session: spdySession(answer.stream, { role: "client" }), chosen: answer.headers["x-stream-protocol-version"] };
}

async function textOf({ input }: Pick<ByteStream, "input">): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of input) text += decoder.decode(chunk, { stream: true });
  return text;
}

test("exec works over SPDY", async () => {
  await using server = await serve(aKubelet({ exec: echo }));
  const { session, chosen } = await spdyTo(server, "/exec/default/web/main?input=1&output=1&error=1&command=cat", "v4.channel.k8s.io");
  const [outcome, stdin, stdout, stderr] = await Promise.all(
    ["error", "stdin", "stdout", "stderr"].map((streamtype) => session.open({ streamtype })),
  );
  await stdin?.write(encoder.encode("hello"));
  stdin?.end();
  const texts = await Promise.all([outcome, stdout, stderr].map((stream) => (stream === undefined ? Promise.resolve("") : textOf(stream))));
  session.abort();

  deepEqual([chosen, texts], ["v4.channel.k8s.io", ['{"metadata":{},"status":"Success"}', "hello", "cat"]]);
});

/** Answers with Pod and port, and the input in capitals. */
const shout: NonNullable<Runtime["portForward"]> = async (podUid, port, stream) => {
  if (port === 81) throw new Error("connection refused");
  await stream.write(encoder.encode(`${podUid}:${port} `));
  for await (const chunk of stream.input) {
    await stream.write(encoder.encode(new TextDecoder().decode(chunk).toUpperCase()));
    break;
  }
};

async function portOver(session: SpdySession, port: string): Promise<readonly [data: string, error: string]> {
  const error = await session.open({ streamtype: "error", port, requestid: port });
  const data = await session.open({ streamtype: "data", port, requestid: port });
  await data.write(encoder.encode("hello")).catch(() => undefined);
  return Promise.all([textOf(data).catch(() => "cut"), textOf(error)]);
}

const REFUSED = "error forwarding port 81 to pod web_default, uid u-1: connection refused";

test("port-forward works over SPDY", async () => {
  await using server = await serve(aKubelet({ portForward: shout }));
  const { session } = await spdyTo(server, "/portForward/default/web", "portforward.k8s.io");
  const [good, [, refusal]] = [await portOver(session, "80"), await portOver(session, "81")];
  session.abort();

  deepEqual([good, refusal], [["u-1:80 HELLO", ""], REFUSED]);
});

test("port-forward works over SPDY inside a WebSocket", async () => {
  await using server = await serve(aKubelet({ portForward: shout }));
  const answer = await openTunnel({
    ...{ scheme: "https", host: "127.0.0.1", port: server.port, tls: { authorities: server.authority }, path: "/portForward/default/web" },
    headers: webSocketHeaders("SPDY/3.1+portforward.k8s.io"),
    signal: new AbortController().signal,
  });
  if (!("stream" in answer)) throw new Error(`The server answered ${answer.code}`);
  const session = spdySession(messagesOf(answer.stream), { role: "client" });
  const [good, [, refusal]] = [await portOver(session, "80"), await portOver(session, "81")];
  session.abort();

  deepEqual([answer.headers["sec-websocket-protocol"], good, refusal], ["SPDY/3.1+portforward.k8s.io", ["u-1:80 HELLO", ""], REFUSED]);
});

test("port-forward works over the channels of a WebSocket", async () => {
  await using server = await serve(aKubelet({ portForward: shout }));
  using client = server.webSocket("/portForward/default/web?port=80,81", ["v4.channel.k8s.io"]);
  const received = receivedBy(client);
  await once(client, "open");
  client.send("\u0000hello");

  deepEqual(await received, { 0: "P\0u-1:80 HELLO", 1: "P\0", 2: "Q\0", 3: `Q\0${REFUSED}` });
});

test("a runtime without a network returns an error for each port connection", async () => {
  await using server = await serve(aKubelet());
  using client = server.webSocket("/portForward/default/web?port=80", []);

  match((await receivedBy(client))[1] ?? "", /uid u-1: its runtime has no network$/);
});

test("a disconnect of an exec client over SPDY aborts the command", async () => {
  let begun: (streams: ExecStreams) => void = () => undefined;
  let ended = (): void => undefined;
  const [hasBegun, over] = [new Promise<ExecStreams>((resolve) => (begun = resolve)), new Promise<void>((resolve) => (ended = resolve))];
  const kubelet = aKubelet({
    async exec(_id, _command, streams, signal) {
      begun(streams);
      await once(signal, "abort");
      ended();
      return 137;
    },
  });
  await using server = await serve(kubelet);
  const { session } = await spdyTo(server, "/exec/default/web/main?output=1&command=sleep", "v4.channel.k8s.io");
  await Promise.all(["error", "stdout"].map((streamtype) => session.open({ streamtype })));
  await hasBegun;
  session.abort();

  await over;
});
