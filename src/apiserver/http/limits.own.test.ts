import { signalOf } from "../../base/abort.ts";
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { connect as netConnect } from "node:net";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import type { HttpLimits } from "../../host/http/limits.ts";
import {
  aborted,
  allOf,
  deferred,
  disposable,
  http1Client,
  http2Client,
  PROTOCOLS,
  rawConnection,
  readUntil,
  serve,
  text,
  watchAnswer,
  type Client,
  type Served,
} from "./testing/served.ts";

/** Long enough for a loaded machine between connecting and the first bytes: only what follows is to time out. */
const PATIENCE_MS = 500;

/** Timeouts short enough to wait for in a test. */
function quick(limits: Partial<HttpLimits>) {
  return { limits: { sweepIntervalMs: 10, ...limits } };
}

/**
 * Resolves when a request was answered. The timeout of the next request on that connection starts with its own first byte; that of the
 * first one starts with the connection, which may be long before on a loaded machine.
 */
async function untilAnswered(client: Client): Promise<void> {
  for (;;) {
    const answer = await client.ask().catch(() => undefined);
    if (answer?.code === 200) return;
  }
}

/** The same, with a connection for raw writes. */
async function answeredConnection(served: Served): Promise<TLSSocket> {
  for (;;) {
    const socket = await rawConnection(served);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    const answer = await readUntil(socket, /fine$/).catch(() => undefined);
    if (answer !== undefined) return socket;
    socket.destroy();
  }
}

test("oversized request headers are rejected", async () => {
  await using served = await serve(async () => text("fine"));
  using client = http1Client(served);
  // The connection is closed while the client still sends, which may reset it before the response is read.
  const outcome = await client.ask({ headers: { a: "x".repeat(100_000) } }).then(
    ({ code }) => code,
    () => 431,
  );
  equal(outcome, 431);
  equal((await client.ask({ headers: { a: "x".repeat(60_000) } })).code, 200);
  using other = http2Client(served);
  await rejects(other.ask({ headers: { a: "x".repeat(100_000) } }));
});

test("a client with incomplete headers times out", async () => {
  await using served = await serve(async () => text("fine"), quick({ headersTimeoutMs: PATIENCE_MS, requestTimeoutMs: PATIENCE_MS }));
  using client = disposable(await answeredConnection(served));
  client.socket.write("GET / HTTP/1.1\r\nhost: ");
  match(await allOf(client.socket), /^HTTP\/1\.1 408 /);
});

test("a client with an incomplete TLS handshake does not block shutdown", async () => {
  const served = await serve(async () => text("fine"));
  using client = disposable(netConnect(served.port, "127.0.0.1"));
  client.socket.on("error", () => {});
  await once(client.socket, "connect");
  await served.close();
});

for (const [protocol, client] of Object.entries(PROTOCOLS)) {
  test(`${protocol}: a client with an incomplete body times out`, async () => {
    const gone = deferred<void>();
    await using served = await serve(
      async (request) => {
        if (request.method === "GET") return text("fine");
        await Promise.resolve(request.body()).catch(() => gone.resolve());
        await aborted(request);
        return text("");
      },
      quick({ requestTimeoutMs: PATIENCE_MS, headersTimeoutMs: PATIENCE_MS }),
    );
    using asking = client(served);
    await untilAnswered(asking);
    const answer = asking.ask({ method: "POST", headers: { "content-length": "10" }, body: "half" });
    // HTTP/1.1 sends a response; on HTTP/2 the stream is reset.
    await answer.then(
      ({ code }) => equal(code, 408),
      () => undefined,
    );
    await gone.promise;
  });
}

test("an idle HTTP/2 connection is closed, one with a stream is not", async () => {
  const { answer, sink } = watchAnswer();
  await using served = await serve(async () => answer, quick({ idleTimeoutMs: PATIENCE_MS }));
  using idle = http2Client(served);
  const idleClosed = once(idle.session, "close");
  using busy = http2Client(served);
  const busyClosed = once(busy.session, "close");
  const watching = busy.ask();
  const writer = await sink;
  await idleClosed;
  equal(busy.session.closed, false);
  writer.end();
  equal((await watching).code, 200);
  await busyClosed;
});

test("an idle HTTP/1.1 connection is closed", async () => {
  await using served = await serve(async () => text("fine"), quick({ idleTimeoutMs: 50 }));
  using client = disposable(await rawConnection(served));
  const closed = once(client.socket, "close");
  client.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await readUntil(client.socket, /fine$/);
  client.socket.resume();
  await closed;
});

test("a client that reads nothing of a large response times out", async () => {
  const signal = deferred<AbortSignal>();
  await using served = await serve(
    async (request) => {
      signal.resolve(signalOf(request.signal));
      return text("", { body: Array.from({ length: 1000 }, () => new Uint8Array(100_000)) });
    },
    quick({ stallTimeoutMs: 100 }),
  );
  using first = disposable(await rawConnection(served));
  first.socket.pause();
  first.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(await signal.promise, "abort");
});

test("a stream that is not read on HTTP/2 times out, and its connection stays open", async () => {
  await using served = await serve(
    async ({ path }) => text("small", path === "/large" ? { body: Array.from({ length: 1000 }, () => new Uint8Array(100_000)) } : {}),
    quick({ stallTimeoutMs: 100 }),
  );
  using client = http2Client(served);
  const stream = client.session.request({ ":path": "/large" });
  const closed = new Promise<void>((resolve) => stream.on("close", resolve));
  stream.on("error", () => {});
  stream.pause();
  await once(stream, "response");
  equal((await client.ask({ path: "/small" })).body, "small");
  await closed;
  equal(client.session.closed, false);
});

test("connections over the limit are closed immediately", async () => {
  await using served = await serve(async () => text("fine"), { limits: { connectionsMax: 1 } });
  using client = disposable(await rawConnection(served));
  using other = disposable(netConnect(served.port, "127.0.0.1"));
  other.socket.on("error", () => {});
  await once(other.socket.resume(), "close");
  client.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await readUntil(client.socket, /fine$/);
});

test("listening on a port in use fails with a clear error", async () => {
  await using served = await serve(async () => text("fine"));
  await rejects(
    serve(async () => text("never"), { port: served.port }),
    { name: "ListenError", code: "EADDRINUSE" },
  );
});

test("requests beyond the stream limit of an HTTP/2 connection wait in the client", async () => {
  const release = deferred<void>();
  const arrived: string[] = [];
  await using served = await serve(
    async ({ path }) => {
      arrived.push(path);
      if (path !== "/c") await release.promise;
      return text(path);
    },
    { limits: { streamsPerConnectionMax: 2 } },
  );
  using client = http2Client(served);
  await once(client.session, "remoteSettings");
  const answers = ["/a", "/b", "/c"].map((path) => client.ask({ path }));
  const pinged = deferred<void>();
  client.session.ping(() => pinged.resolve());
  await pinged.promise;
  deepEqual(arrived, ["/a", "/b"]);
  release.resolve();
  deepEqual(
    (await Promise.all(answers)).map(({ body }) => body),
    ["/a", "/b", "/c"],
  );
});
