import { signalOf } from "../../base/abort.ts";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { test } from "node:test";
import type { ByteStream } from "../../base/byte-stream.ts";
import { silentLogger } from "../../base/logger.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import type { HttpHandler, TunnelOffer, WebSocketOffer } from "./contract.ts";
import { startHttpsServer } from "./server.ts";

const tls = testServing();

function start(handler: HttpHandler) {
  const bodyTooLarge = () => new Error("Too large");
  return startHttpsServer({ host: "127.0.0.1", port: 0, tls, handler, bodyTooLarge, log: silentLogger });
}

/** A client that has sent a request, by hand. */
async function ask(port: number, { upgrade = "", method = "GET", more = "", body = "" }): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, ca: tls.authority, ALPNProtocols: ["http/1.1"] });
  await once(socket, "secureConnect");
  const asking = upgrade === "" ? "" : `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`;
  socket.write(`${method} / HTTP/1.1\r\nhost: here\r\n${asking}${more}\r\n${body}`);
  return socket;
}

async function untilEnd(socket: TLSSocket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

const KEY = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n";

for (const { title, request, expected } of [
  { title: "no upgrade", request: {}, expected: [undefined, undefined] },
  {
    title: "SPDY by POST",
    request: { upgrade: "SPDY/3.1", method: "POST", more: "content-length: 0\r\n" },
    expected: [undefined, "SPDY/3.1"],
  },
  {
    title: "a WebSocket",
    request: { upgrade: "websocket", more: `${KEY}sec-websocket-protocol: a, b\r\n` },
    expected: [["a", "b"], "websocket"],
  },
  { title: "a WebSocket without its key", request: { upgrade: "websocket" }, expected: [undefined, "websocket"] },
]) {
  test(`a request for ${title} is offered as ${JSON.stringify(expected)}, and can be rejected with a response`, async () => {
    const offered: [WebSocketOffer | undefined, TunnelOffer | undefined][] = [];
    await using server = await start((_, reply, offer, tunnel) => {
      offered.push([offer, tunnel]);
      reply.send({ code: 403, headers: { connection: "close" } }, [Buffer.from("no")]);
    });

    const answer = await untilEnd(await ask(server.port, request));

    deepEqual(
      offered.map(([offer, tunnel]) => [offer?.protocols, tunnel?.protocol]),
      [expected],
    );
    equal(/^HTTP\/1\.1 403 [^]*\r\n\r\nno$/.test(answer), true);
  });
}

/** The other way of whatever comes. */
async function echo(stream: ByteStream): Promise<void> {
  for await (const chunk of stream.input) await stream.write(chunk);
  stream.end();
}

test("after a switch all bytes belong to the protocol, those sent with the request included, and each direction ends independently", async () => {
  await using server = await start((_request, _reply, _offer, tunnel) => {
    void tunnel?.switch({ connection: "Upgrade", upgrade: tunnel.protocol }).then(echo);
  });
  const client = await ask(server.port, { upgrade: "echo", body: "early " });
  client.end("late");

  equal(await untilEnd(client), "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\nearly late");
});

test("an upgrade of a disconnected client is rejected, and so is one whose header has a line break", async () => {
  const offers: TunnelOffer[] = [];
  const arrived = new Promise<AbortSignal>((resolve, reject) => {
    void start(({ signal }, _reply, _offer, tunnel) => {
      if (tunnel !== undefined) offers.push(tunnel);
      resolve(signalOf(signal));
    }).then(async (server) => {
      const client = await ask(server.port, { upgrade: "echo" });
      const signal = await arrived;
      await rejects(async () => offers[0]?.switch({ upgrade: "a\r\nb" }), /Invalid character/);
      client.destroy();
      await once(signal, "abort");
      await rejects(async () => offers[0]?.switch({}), /The client disconnected/);
      await server.close();
      finish();
    }, reject);
  });
  let finish = () => undefined as void;
  await new Promise<void>((resolve) => (finish = resolve));
});

test("a stopping server closes switched connections", async () => {
  let switched: Promise<ByteStream> | undefined;
  const server = await start((_request, _reply, _offer, tunnel) => {
    switched = tunnel?.switch({});
  });
  const client = await ask(server.port, { upgrade: "echo" });
  await once(client, "data");
  client.on("error", () => undefined);
  const gone = once(client, "close");

  await server.close({ graceMs: 0 });

  await gone;
  await (
    await switched
  )?.closed;
});
