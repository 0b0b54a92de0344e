import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { MessageSocket, Sink } from "../framework/exchange.ts";
import { webSocketClient } from "../../host/http/testing/web-socket-client.ts";
import { chunk, deferred, rawConnection, readUntil, disposable, serve, text, watchAnswer, type Served } from "./testing/served.ts";

type Client = ReturnType<typeof webSocketClient>;

function connect({ port, authority }: Served, protocols: readonly string[] = []): Client {
  return webSocketClient(`wss://127.0.0.1:${port}/api/v1/pods?watch=1`, { protocols, authority });
}

async function nextMessage(socket: Client): Promise<{ readonly text: string; readonly binary: boolean }> {
  const [message, binary] = (await once(socket, "message")) as [Buffer, boolean];
  return { text: message.toString(), binary };
}

for (const { contentType, binary } of [
  { contentType: "application/json", binary: false },
  { contentType: "application/vnd.kubernetes.protobuf;stream=watch", binary: true },
]) {
  test(`a watch over a WebSocket is one ${binary ? "binary" : "text"} message per event for ${contentType}`, async () => {
    const { answer, sink: coming } = watchAnswer(contentType);
    await using served = await serve(async () => answer);
    using client = connect(served);
    const sink: Sink = await coming;
    const first = nextMessage(client);
    sink.write(chunk('{"type":"ADDED"}\n'));
    deepEqual(await first, { text: '{"type":"ADDED"}\n', binary });
    const second = nextMessage(client);
    sink.write(chunk("two"));
    deepEqual(await second, { text: "two", binary });
    const closed = once(client, "close");
    sink.end();
    const [code] = (await closed) as [number];
    equal(code, 1000);
  });
}

test("a close frame ends a watch over a WebSocket, and other client messages are ignored", async () => {
  const { answer, sink: coming } = watchAnswer();
  await using served = await serve(async () => answer);
  using client = connect(served);
  const sink = await coming;
  const closed = new Promise<void>((resolve) => sink.onClosed(resolve));
  await once(client, "open");
  client.send("ignored");
  const message = nextMessage(client);
  sink.write(chunk("event"));
  equal((await message).text, "event");
  client.close();
  await closed;
  equal(sink.write(chunk("late")), 0);
});

for (const { offered, chosen } of [
  { offered: [], chosen: "" },
  { offered: ["one"], chosen: "one" },
  { offered: ["base64url.bearer.authorization.k8s.io.dG9rZW4", "base64.binary.k8s.io"], chosen: "base64.binary.k8s.io" },
]) {
  test(`of the subprotocols [${offered.join(", ")}] "${chosen}" is chosen for a watch`, async () => {
    const { answer } = watchAnswer();
    await using served = await serve(async () => answer);
    using client = connect(served, offered);
    await once(client, "open");
    equal(client.protocol, chosen);
  });
}

test("a rejected WebSocket request gets an ordinary response", async () => {
  await using served = await serve(async (request) => text(`no ${request.path}`, { code: 403 }));
  using client = connect(served);
  const [, response] = (await once(client, "unexpected-response")) as [unknown, AsyncIterable<Buffer> & { statusCode: number }];
  equal(response.statusCode, 403);
});

test("an upgrade to another protocol, or an invalid WebSocket handshake, is handled as an ordinary request", async () => {
  await using served = await serve(async ({ path }) => text(`answered ${path}`));
  for (const headers of [
    "connection: upgrade\r\nupgrade: SPDY/3.1",
    "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: short\r\nsec-websocket-version: 13",
    "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 99",
  ]) {
    using client = disposable(await rawConnection(served));
    client.socket.write(`GET /x HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`);
    await readUntil(client.socket, /answered \/x$/);
  }
});

test("a response may take over the WebSocket, with a subprotocol, and stream both ways", async () => {
  const accepted = deferred<MessageSocket>();
  await using served = await serve(async (_, offer) => ({ protocol: offer?.protocols[1] ?? "", run: accepted.resolve }));
  using client = connect(served, ["v4.channel.k8s.io", "v5.channel.k8s.io"]);
  await once(client, "open");
  equal(client.protocol, "v5.channel.k8s.io");
  client.send(Buffer.from("early"));
  const connection = await accepted.promise;
  connection.onMessage((message, { binary }) => void connection.send(Buffer.concat([Buffer.from("echo "), message]), { binary }));
  deepEqual(await nextMessage(client), { text: "echo early", binary: true });
  const closed = new Promise<void>((resolve) => connection.onClosed(resolve));
  client.close();
  await closed;
});

test("waiting for a slow WebSocket client to drain succeeds even if the client pings meanwhile", { timeout: 60_000 }, async () => {
  const accepted = deferred<MessageSocket>();
  await using served = await serve(async () => ({ protocol: "", run: accepted.resolve }));
  using client = connect(served);
  await once(client, "open");
  const connection = await accepted.promise;
  const drained = new Promise<void>((resolve) => connection.onDrained(resolve));
  const asked = new Promise<void>((resolve) => connection.onMessage(() => resolve()));

  client.pause();
  // More than the network buffers.
  ok(connection.send(new Uint8Array(32 << 20), { binary: true }) > 0);
  client.ping();
  client.send("after the ping");
  // By now the pong is queued behind the message.
  await asked;
  client.resume();

  await drained;
});

test("a client that receives an unrequested WebSocket is disconnected", async () => {
  await using served = await serve(async () => ({ run: () => {} }));
  using client = disposable(await rawConnection(served));
  client.socket.write("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
  await rejects(readUntil(client.socket, /never/), /ended after ""/);
});

test("a token among the subprotocols is not offered to the responder", async () => {
  const offered = deferred<readonly string[] | undefined>();
  await using served = await serve(async (_, offer) => (offered.resolve(offer?.protocols), text("no", { code: 400 })));
  using client = connect(served, ["base64url.bearer.authorization.k8s.io.dG9rZW4", "v5.channel.k8s.io"]);
  await once(client, "unexpected-response");
  deepEqual(await offered.promise, ["v5.channel.k8s.io"]);
});
