import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { streamOfSocket } from "../../host/network/byte-streams.ts";
import type { ExchangeAnswer, Sink, SwitchOffer } from "../framework/exchange.ts";
import { networkConnector } from "./network-connector.ts";
import type { ConnectionCall, ConnectionTarget } from "../framework/node-connector.ts";

type ServerTarget = Extract<ConnectionTarget, { readonly is: "server" }>;

interface Served extends AsyncDisposable {
  readonly target: ConnectionTarget;
  readonly server: Server;
}

async function serve(answer: (...exchange: Parameters<RequestListener>) => unknown): Promise<Served> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    server,
    target: { is: "server", scheme: "http", host: "127.0.0.1", port, pod: { namespace: "default", name: "web" } },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function callOf(target: ConnectionTarget, call: Partial<ConnectionCall> = {}): ConnectionCall {
  return {
    subresource: "proxy",
    target,
    options: {},
    method: "GET",
    path: "/",
    query: "",
    headers: {},
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    ...call,
  };
}

const PAGE = '<a href="/a">é</a>';
const REWRITTEN = '<a href="/proxy/a">é</a>';

const connector = networkConnector({ kubeletTls: () => ({ isInsecure: true }) });

/** Reads a streamed response to its end. */
function whole(answer: ExchangeAnswer): Promise<{ readonly text: string; readonly isCut: boolean }> {
  ok("stream" in answer);
  return new Promise((resolve) => {
    const decoder = new TextDecoder();
    let text = "";
    const sink: Sink = {
      write: ({ bytes }) => {
        text += decoder.decode(bytes, { stream: true });
        return 0;
      },
      end: () => resolve({ text, isCut: false }),
      abort: () => resolve({ text, isCut: true }),
      onClosed: () => undefined,
      onDrained: () => undefined,
    };
    answer.stream(sink);
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
}

test("a proxied request keeps path, query, headers and body, and its response is returned", async () => {
  await using served = await serve(async (request, response) => {
    const said = { method: request.method, url: request.url, header: request.headers["x-a"], body: await bodyOf(request) };
    response.writeHead(418, { "x-b": "c" }).end(JSON.stringify(said));
  });

  const answer = await connector.connect(
    callOf(served.target, {
      method: "POST",
      path: "/a%20b",
      query: "q=1",
      headers: { "x-a": "b" },
      body: async () => new TextEncoder().encode("hello"),
    }),
  );

  ok("stream" in answer);
  deepEqual([answer.code, answer.headers["x-b"]], [418, "c"]);
  deepEqual(JSON.parse((await whole(answer)).text), { method: "POST", url: "/a%20b?q=1", header: "b", body: "hello" });
});

test("a truncated backend response is reported as incomplete", async () => {
  await using served = await serve((_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => response.destroy());
  });

  deepEqual(await whole(await connector.connect(callOf(served.target))), { text: "half", isCut: true });
});

test("a refused backend connection is reported as such", async () => {
  const served = await serve(() => undefined);
  await served[Symbol.asyncDispose]();
  const { port } = served.target as ServerTarget;
  const refused = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
  const kubelet: ConnectionTarget = {
    is: "kubelet",
    node: { name: "n1", host: "127.0.0.1", port },
    pod: { namespace: "default", name: "web" },
    container: "c",
  };

  await rejects(connector.connect(callOf(served.target)), { message: refused });
  await rejects(connector.connect(callOf(served.target, { switching: SPDY })), { message: refused });
  await rejects(connector.connect(callOf(kubelet, { subresource: "exec", switching: SPDY })), {
    message: `error dialing backend: ${refused}`,
  });
  await rejects(connector.connect(callOf(kubelet, { subresource: "log" })), {
    message: `Get "https://127.0.0.1:${port}/containerLogs/default/web/c": ${refused}`,
  });
});

test("a TLS failure or a closed backend connection is reported with Go's messages", async () => {
  await using served = await serve((request) => request.socket.destroy());
  const secure = { ...(served.target as ServerTarget), scheme: "https" } as const;

  await rejects(connector.connect(callOf(secure)), { message: "tls: first record does not look like a TLS handshake" });
  await rejects(connector.connect(callOf(served.target)), { message: "EOF" });
});

test("a client disconnect before the response cancels the proxied request", async () => {
  const gone = new AbortController();
  await using served = await serve(() => gone.abort(new Error("The client disconnected")));

  await rejects(connector.connect(callOf(served.target, { signal: gone.signal })), /The client disconnected/);
});

const SPDY: SwitchOffer = { protocol: "SPDY/3.1", headers: { "x-stream-protocol-version": "v4.channel.k8s.io" } };

test("an upgraded connection passes bytes both ways unchanged", async () => {
  await using served = await serve(() => undefined);
  served.server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    const version = String(request.headers["x-stream-protocol-version"]);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\nX-Version: ${version}\r\n\r\n`,
    );
    socket.pipe(socket);
  });

  const answer = await connector.connect(callOf(served.target, { switching: SPDY }));

  ok("switching" in answer);
  deepEqual([answer.switching["upgrade"], answer.switching["x-version"]], ["SPDY/3.1", "v4.channel.k8s.io"]);
  const [here, there] = duplexPair();
  answer.tunnel(streamOfSocket(there));
  here.write("ping");
  const [echoed] = (await once(here, "data")) as [Buffer];
  equal(echoed.toString(), "ping");
  here.end();
  await once(here, "end");
});

test("a rejected upgrade is an ordinary response", async () => {
  await using served = await serve(() => undefined);
  served.server.on("upgrade", (_: IncomingMessage, socket: Socket) => {
    socket.end("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nnot there");
  });

  const answer = await connector.connect(callOf(served.target, { switching: SPDY }));

  ok("body" in answer);
  deepEqual([answer.code, answer.headers], [404, { "content-type": "text/plain" }]);
  match(new TextDecoder().decode(answer.body[0]), /not there/);
});

test("a node name that resolves to a local address is not proxied to", async () => {
  const target: ConnectionTarget = { is: "server", scheme: "http", host: "localhost", port: 1, nodeName: "a" };
  await rejects(connector.connect(callOf(target)), /address not allowed/);
});

for (const { title, headers, packed, expected } of [
  { title: "plain", headers: {}, packed: Buffer.from(PAGE), expected: REWRITTEN },
  { title: "compressed by gzip", headers: { "content-encoding": "gzip" }, packed: gzipSync(PAGE), expected: REWRITTEN },
  { title: "of another type", headers: { "content-type": "text/plain" }, packed: Buffer.from(PAGE), expected: PAGE },
  { title: "in an unknown encoding", headers: { "content-encoding": "own" }, packed: Buffer.from(PAGE), expected: PAGE },
  { title: "of a redirect", headers: { location: "/elsewhere" }, packed: Buffer.from(PAGE), expected: PAGE },
]) {
  test(`the links of a page that is ${title} are ${expected === PAGE ? "not rewritten" : "rewritten"}`, async () => {
    await using served = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(packed);
    });
    const answer = await connector.connect(callOf(served.target, { rewriteLink: (link) => `/proxy${link}` }));

    ok("stream" in answer);
    const pieces: Uint8Array[] = [];
    const ended = new Promise<void>((resolve) => answer.stream(collecting(pieces, resolve)));
    await ended;
    const bytes = Buffer.concat(pieces);
    equal((answer.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString(), expected);
  });
}

function collecting(pieces: Uint8Array[], ended: () => void): Sink {
  return {
    write: ({ bytes }) => (pieces.push(bytes), 0),
    end: ended,
    abort: ended,
    onClosed() {},
    onDrained() {},
  };
}

test("a HEAD response of a compressed page is not rewritten", async () => {
  await using served = await serve((_, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end();
  });
  const answer = await connector.connect(callOf(served.target, { method: "HEAD", rewriteLink: (link) => `/proxy${link}` }));
  deepEqual(await whole(answer), { text: "", isCut: false });
});
