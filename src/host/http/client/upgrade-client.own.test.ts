import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { readAll, streamPair } from "../../../testing/fixtures/stream-pair.ts";
import { joinStreams } from "../../network/byte-streams.ts";
import { openTunnel } from "./upgrade-client.ts";

const FOREVER = new AbortController().signal;
const HEADERS = { connection: "Upgrade", upgrade: "echo", "x-names": ["one", "two"] };

/** Echoes after a switch, with bytes that arrive together with the response head; rejects requests to /no. */
function echoServer(): Server {
  const server = createServer((_request, response) => void response.writeHead(403, { "content-type": "text/plain" }).end("not you"));
  server.on("upgrade", (request, socket) => {
    socket.on("error", () => undefined);
    if (request.url === "/no") return void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\nnot you");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-Method: ${request.method}\r\n\r\n`);
    socket.write(`${request.headers["x-names"] as string};`);
    socket.pipe(socket);
  });
  return server;
}

async function listen(t: test.TestContext, server: Server, path?: string): Promise<number> {
  if (path === undefined) server.listen(0, "127.0.0.1");
  else server.listen(path);
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return path === undefined ? (server.address() as AddressInfo).port : 0;
}

for (const where of ["network", "unix socket"] as const) {
  test(`after a switch over the ${where} the connection carries bytes both ways until each side ends`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "k8ts-tunnel-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const path = join(directory, "socket");
    const port = await listen(t, echoServer(), where === "network" ? undefined : path);
    const place = where === "network" ? ({ scheme: "http", host: "127.0.0.1", port } as const) : { socketPath: path };

    const answer = await openTunnel({ ...place, method: "POST", path: "/", headers: HEADERS, signal: FOREVER });
    assert.ok("stream" in answer);
    await answer.stream.write(Buffer.from("hello"));
    answer.stream.end();

    assert.deepEqual([answer.code, answer.headers["x-method"]], [101, "POST"]);
    assert.equal(Buffer.from(await readAll(answer.stream.input)).toString(), "one, two;hello");
    await answer.stream.closed;
  });
}

test("a response without a protocol switch is returned like any other", async (t) => {
  const port = await listen(t, echoServer());
  const answer = await openTunnel({ scheme: "http", host: "127.0.0.1", port, path: "/no", headers: HEADERS, signal: FOREVER });

  assert.ok("body" in answer);
  assert.deepEqual([answer.code, Buffer.from(answer.body).toString()], [403, "not you"]);
});

test("a tunnel to an address without a listener is rejected with the reason", async () => {
  await assert.rejects(
    openTunnel({ scheme: "http", host: "127.0.0.1", port: 9, path: "/", headers: HEADERS, signal: FOREVER }),
    /Cannot connect to 127.0.0.1:9: /,
  );
  await assert.rejects(
    openTunnel({ socketPath: "/no/such/socket", path: "/", headers: HEADERS, signal: FOREVER }),
    /Cannot connect to \/no\/such\/socket: /,
  );
});

test("cancelling while the server is processing rejects with the signal's reason", async (t) => {
  const silent = createTcpServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const given = new AbortController();

  const opening = openTunnel({
    scheme: "http",
    host: "127.0.0.1",
    port: (silent.address() as AddressInfo).port,
    path: "/",
    headers: HEADERS,
    signal: given.signal,
  });
  const [connection] = (await once(silent, "connection")) as [NodeJS.EventEmitter & { destroy(): void; resume(): void }];
  connection.resume();
  given.abort(new Error("Cancelled by the caller"));

  await assert.rejects(opening, /Cancelled by the caller/);
  connection.destroy();
});

test("joined streams end in each direction independently, and a failure of one closes the other", async () => {
  const [a, nearA] = streamPair();
  const [b, nearB] = streamPair();
  const joined = joinStreams(nearA, nearB);

  await a.write(Buffer.from("there"));
  a.end();
  assert.equal(Buffer.from(await readAll(b.input)).toString(), "there");
  await b.write(Buffer.from("back"));
  const reader = a.input[Symbol.asyncIterator]();
  assert.equal(Buffer.from((await reader.next()).value as Uint8Array).toString(), "back");
  b.abort();

  await assert.rejects(reader.next());
  await joined;
});
