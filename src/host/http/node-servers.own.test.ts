import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect as connectHttp2, type ClientHttp2Stream } from "node:http2";
import { connect as connectTcp, createServer as createRelay, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { silentLogger } from "../../base/logger.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import { forwardRequest } from "./forward.ts";
import { HEADER_BYTES_MAX, WEBSOCKET_PINGS_MAX } from "./limits.ts";
import { createHttpServer, handleHttp1 } from "./node-servers.ts";
import { startHttpsServer, type HttpsServer } from "./server.ts";

const tls = testServing();
const LAST = "impersonate-user";

let https: HttpsServer;
const http = createHttpServer({});

before(async () => {
  https = await startHttpsServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: silentLogger },
    bodyTooLarge: () => new Error("Too large"),
    handler: (request, reply) => reply.send({ code: 200, headers: {} }, [Buffer.from(`${request.header(LAST)}`)]),
  });
  handleHttp1(http, { request: (request, response) => response.end(`${String(request.headers[LAST])}`) });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
});

after(async () => {
  await https.close({ graceMs: 0 });
  http.close();
  http.closeAllConnections();
});

const CONNECTIONS: Readonly<Record<string, () => Promise<Socket>>> = {
  async HTTPS() {
    const socket = connectTls({ host: "127.0.0.1", port: https.port, ca: tls.authority, ALPNProtocols: ["http/1.1"] });
    await once(socket, "secureConnect");
    return socket;
  },
  async HTTP() {
    const socket = connectTcp((http.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  },
};

async function untilEnd(socket: Socket): Promise<string> {
  socket.on("error", () => {});
  let text = "";
  try {
    for await (const chunk of socket) text += String(chunk);
  } catch {
    // Reset: the bytes read before are returned.
  }
  return text;
}

for (const [scheme, connect] of Object.entries(CONNECTIONS)) {
  describe(`the ${scheme} server`, () => {
    for (const count of [0, 998, 999, 1_000, 1_999, 2_000, 5_000]) {
      test(`reads a header that follows ${count} others`, async () => {
        const socket = await connect();
        socket.write(`GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${"a: b\r\n".repeat(count)}Impersonate-User: alice\r\n\r\n`);
        match(await untilEnd(socket), /^HTTP\/1\.1 200 OK\r\n[^]*alice$/);
      });

      test(`reads a header that follows ${count} others in a request for an upgrade`, async () => {
        const socket = await connect();
        const upgrade = "connection: Upgrade\r\nupgrade: other\r\n";
        socket.write(`GET / HTTP/1.1\r\nhost: a\r\n${upgrade}${"a: b\r\n".repeat(count)}Impersonate-User: alice\r\n\r\n`);
        const [answer] = (await once(socket, "data")) as [Buffer];
        match(answer.toString(), /^HTTP\/1\.1 200 OK\r\n/);
        socket.destroy();
      });
    }

    for (const [title, headers] of [
      ["one large header", `a: ${"b".repeat(HEADER_BYTES_MAX)}\r\n`],
      ["many small headers", "a:b\r\n".repeat(HEADER_BYTES_MAX / 3)],
      ["many empty headers", "a:\r\n".repeat(HEADER_BYTES_MAX / 2)],
    ]) {
      test(`rejects ${title} over the limit with 431`, async () => {
        const socket = await connect();
        socket.write(`GET / HTTP/1.1\r\nhost: a\r\n${headers}\r\n`);
        // The server closes the connection while the client still sends, which may reset it before the answer is read.
        match(await untilEnd(socket), /^$|^HTTP\/1\.1 431 /);
      });
    }

    for (const { title, request, answer } of [
      {
        title: "two Host headers",
        request: "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n",
        answer: /^HTTP\/1\.1 400 Bad Request: too many Host headers\r\n[^]*\r\n\r\n400 Bad Request: too many Host headers$/,
      },
      {
        title: "two Host headers in a request for an upgrade",
        request: "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
        answer: /^HTTP\/1\.1 400 Bad Request: too many Host headers\r\n/,
      },
      {
        title: "two Host headers of a client that waits to send its body",
        request: "POST / HTTP/1.1\r\nHost: a\r\nhOST: b\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n",
        answer: /^HTTP\/1\.1 400 Bad Request: too many Host headers\r\n/,
      },
      { title: "no Host header", request: "GET / HTTP/1.1\r\n\r\n", answer: /^HTTP\/1\.1 400 / },
      { title: "a request line without a version", request: "GET /\r\n\r\n", answer: /^HTTP\/1\.1 400 Bad Request\r\n/ },
      { title: "HTTP/0.9", request: "GET / HTTP/0.9\r\nhost: a\r\n\r\n", answer: /^HTTP\/1\.1 400 Bad Request\r\n/ },
      { title: "HTTP/2.0 in the form of HTTP/1.1", request: "GET / HTTP/2.0\r\nhost: a\r\n\r\n", answer: /^HTTP\/1\.1 505 / },
    ]) {
      test(`rejects ${title} and closes the connection`, async () => {
        const socket = await connect();
        socket.write(request);
        match(await untilEnd(socket), answer);
      });
    }
  });
}

test("HTTP/2: headers are limited by their size alone, and a request above it is rejected", async () => {
  const session = connectHttp2(`https://127.0.0.1:${https.port}`, { ca: tls.authority });
  const ask = (count: number) => session.request({ ":path": "/", a: Array<string>(count).fill("b"), [LAST]: "alice" });
  const outcome = async (stream: ClientHttp2Stream) => {
    let body = "";
    try {
      for await (const chunk of stream) body += String(chunk);
      return body;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  };

  const outcomes = [];
  for (const count of [10, 128, 1_000, 1_900, 2_000, 4_000]) outcomes.push(await outcome(ask(count)));

  const refused = "ERR_HTTP2_STREAM_ERROR";
  deepEqual(outcomes, ["alice", "alice", "alice", "alice", refused, refused]);
  session.close();
});

test("a client that speaks plain HTTP to the HTTPS port gets the answer of Go's server", async () => {
  const socket = connectTcp(https.port, "127.0.0.1");
  socket.write("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
  equal(await untilEnd(socket), "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
});

test("a client that sends anything else without TLS to the HTTPS port does not get the message about HTTP", async () => {
  const socket = connectTcp(https.port, "127.0.0.1");
  socket.write("SSH-2.0-OpenSSH\r\n");
  equal((await untilEnd(socket)).includes("HTTP"), false);
});

for (const protocol of ["http/1.1", "h2"]) {
  test(`${protocol}: a TLS 1.2 client cannot renegotiate`, async () => {
    // Through a relay, which sees the end of the TCP connection: a client of Node's does not see it during a handshake.
    const toServer = connectTcp(https.port, "127.0.0.1");
    const ended = once(toServer, "end");
    const relay = createRelay(
      (client) =>
        void client
          .on("error", () => {})
          .pipe(toServer)
          .pipe(client),
    );
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
    const { port } = relay.address() as AddressInfo;
    const client = connectTls({ host: "127.0.0.1", port, ca: tls.authority, maxVersion: "TLSv1.2", ALPNProtocols: [protocol] });
    client.on("error", () => {});
    await once(client, "secureConnect");
    equal(client.alpnProtocol, protocol);

    client.renegotiate({}, () => {});

    await ended;
    client.destroy();
    relay.close();
  });
}

test("a response header that follows 2,500 others is forwarded", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, [...Array<string[]>(2_500).fill(["a", "b"]), ["last", "here"]].flat()).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();

  const { headers } = await forwardRequest({ scheme: "http", host: "127.0.0.1", port, method: "GET", path: "/", headers: {}, signal });

  equal(headers["last"], "here");
  server.closeAllConnections();
  server.close();
});

test("a WebSocket client that sends too many pings is disconnected", async () => {
  await using server = await startHttpsServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: silentLogger },
    bodyTooLarge: () => new Error("Too large"),
    handler: (_request, _reply, offer) => void offer?.accept().then((connection) => connection.onMessage(() => {})),
  });
  const client = new WebSocket(`wss://127.0.0.1:${server.port}/`, { ca: tls.authority });
  client.on("error", () => {});
  await once(client, "open");
  let pongs = 0;
  const allAnswered = new Promise<void>((resolve) => client.on("pong", () => ++pongs === WEBSOCKET_PINGS_MAX && resolve()));

  for (let count = 0; count < WEBSOCKET_PINGS_MAX; count++) client.ping();
  await allAnswered;
  equal(client.readyState, client.OPEN);

  const closed = once(client, "close");
  for (let count = 0; count < WEBSOCKET_PINGS_MAX; count++) client.ping();
  await closed;
});
