import { signalOf } from "../../base/abort.ts";
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import type { IncomingMessage } from "node:http";
import { describe, test } from "node:test";
import type { Readable } from "node:stream";
import type { Sink } from "../framework/exchange.ts";
import {
  allOf,
  chunk,
  deferred,
  disposable,
  http2Client,
  rawConnection,
  readUntil,
  serve,
  watchAnswer,
  type Served,
} from "./testing/served.ts";

interface Watching extends Disposable {
  /** The client's received data; it can be read slowly. */
  readonly received: Readable;
}

const WATCHERS: Readonly<Record<"HTTP/1.1" | "HTTP/2", (served: Served) => Promise<Watching>>> = {
  async "HTTP/1.1"({ port, authority }) {
    const agent = new Agent({ ca: authority });
    const request = httpsRequest({ host: "127.0.0.1", port, agent, path: "/watch" }).end();
    const [received] = (await once(request, "response")) as [IncomingMessage];
    return { received, [Symbol.dispose]: () => request.destroy() };
  },
  async "HTTP/2"(served) {
    const { session } = http2Client(served);
    const received: ClientHttp2Stream = session.request({ ":path": "/watch" });
    await once(received, "response");
    return { received, [Symbol.dispose]: () => session.destroy() };
  },
};

const KILOBYTE = chunk("x".repeat(1024));

function closed(sink: Sink): Promise<void> {
  return new Promise((resolve) => sink.onClosed(resolve));
}

function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => sink.onDrained(resolve));
}

/** Writes more than a connection buffers, tick by tick, until data is buffered in this process. */
async function fill(sink: Sink): Promise<number> {
  let waiting = 0;
  while (waiting < 4 * 1024 * 1024) {
    for (let index = 0; index < 256; index++) waiting = sink.write(KILOBYTE);
    await new Promise(setImmediate);
  }
  return waiting;
}

for (const [protocol, watch] of Object.entries(WATCHERS)) {
  describe(protocol, () => {
    test("a stream sends its head immediately, then each write in order, then a clean end", async () => {
      const { answer, sink: coming } = watchAnswer();
      await using served = await serve(async () => answer);
      using watching = await watch(served);
      const sink = await coming;
      const over = closed(sink);
      for (const word of ["one,", "", "two,", "three"]) sink.write(chunk(word));
      sink.end();
      sink.end();
      equal(sink.write(chunk("after the end")), 0);
      equal(await allOf(watching.received), "one,two,three");
      await over;
      await closed(sink);
    });

    test("a stream's write is received before the stream ends", async () => {
      const { answer, sink } = watchAnswer();
      await using served = await serve(async () => answer);
      using watching = await watch(served);
      (await sink).write(chunk("event"));
      const [piece] = (await once(watching.received, "data")) as [Buffer];
      equal(piece.toString(), "event");
    });

    test("backpressure of a slow reader is reported, and its end as well", async () => {
      const { answer, sink: coming } = watchAnswer();
      await using served = await serve(async () => answer);
      using watching = await watch(served);
      watching.received.pause();
      const sink = await coming;
      ok((await fill(sink)) >= 4 * 1024 * 1024);
      const empty = drained(sink);
      watching.received.resume();
      await empty;
      ok(sink.write(chunk("x")) < 100);
    });

    test("abort drops buffered data, and the client detects an incomplete response", async () => {
      const { answer, sink: coming } = watchAnswer();
      await using served = await serve(async () => answer);
      using watching = await watch(served);
      watching.received.pause();
      const sink = await coming;
      await fill(sink);
      sink.abort();
      await closed(sink);
      equal(sink.write(KILOBYTE), 0);
      await rejects(allOf(watching.received));
    });

    test("a client disconnect closes the stream and aborts the signal", async () => {
      const { answer, sink } = watchAnswer();
      const signal = deferred<AbortSignal>();
      await using served = await serve(async (request) => {
        signal.resolve(signalOf(request.signal));
        return answer;
      });
      const watching = await watch(served);
      const over = closed(await sink);
      watching[Symbol.dispose]();
      await over;
      equal((await signal.promise).aborted, true);
    });

    test("a stream to a disconnected client is closed from the start", async () => {
      const go = deferred<void>();
      const { answer, sink } = watchAnswer();
      const arrived = deferred<AbortSignal>();
      await using served = await serve(async (request) => {
        arrived.resolve(signalOf(request.signal));
        await go.promise;
        return answer;
      });
      const watching = watch(served).catch(() => undefined);
      const signal = await arrived.promise;
      const gone = once(signal, "abort");
      await served.close({ graceMs: 0 });
      await gone;
      go.resolve();
      await closed(await sink);
      await watching;
    });
  });
}

test("writes of one tick are sent together, and a chunk is framed once for all HTTP/1.1 clients", async () => {
  const sinks: Sink[] = [];
  const both = deferred<void>();
  const stream = (sink: Sink) => {
    if (sinks.push(sink) === 2) both.resolve();
  };
  await using served = await serve(async () => ({ code: 200, headers: {}, stream }));
  using first = disposable(await rawConnection(served));
  using second = disposable(await rawConnection(served));
  for (const { socket } of [first, second]) socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await both.promise;
  const shared: { readonly bytes: Uint8Array; framed?: Uint8Array } = chunk("0123456789");
  sinks[0]?.write(shared);
  const { framed } = shared;
  sinks[1]?.write(shared);
  sinks[1]?.write(chunk("abc"));
  equal(Buffer.from(framed ?? []).toString(), "a\r\n0123456789\r\n");
  equal(shared.framed, framed);
  match(await readUntil(first.socket, /9\r\n$/), /\r\n\r\na\r\n0123456789\r\n$/);
  match(await readUntil(second.socket, /abc\r\n$/), /\r\n\r\na\r\n0123456789\r\n3\r\nabc\r\n$/);
});

test("an HTTP/1.0 client receives a stream without chunked encoding", async () => {
  const { answer, sink } = watchAnswer();
  await using served = await serve(async () => answer);
  using client = disposable(await rawConnection(served));
  client.socket.write("GET / HTTP/1.0\r\n\r\n");
  (await sink).write(chunk("event"));
  (await sink).end();
  match(await allOf(client.socket), /connection: close\r\n\r\nevent$/i);
});

test("HEAD of a stream returns its head, and the sink is closed", async () => {
  const { answer, sink } = watchAnswer();
  await using served = await serve(async () => answer);
  using client = http2Client(served);
  deepEqual((await client.ask({ method: "HEAD" })).code, 200);
  await closed(await sink);
});

test("one HTTP/2 connection carries a thousand concurrent streams", async () => {
  const sinks: Sink[] = [];
  const all = deferred<void>();
  const stream = (sink: Sink) => {
    if (sinks.push(sink) === 1000) all.resolve();
  };
  await using served = await serve(async () => ({ code: 200, headers: {}, stream }));
  using client = http2Client(served);
  await once(client.session, "remoteSettings");
  equal(client.session.remoteSettings.maxConcurrentStreams, 1000);
  const bodies = Array.from({ length: 1000 }, () => client.ask({ path: "/watch" }));
  await all.promise;
  const event = chunk("event");
  for (const sink of sinks) sink.write(event);
  for (const sink of sinks) sink.end();
  deepEqual(new Set((await Promise.all(bodies)).map(({ body }) => body)), new Set(["event"]));
});

test("many HTTP/1.1 connections each receive every event", async () => {
  const sinks: Sink[] = [];
  const all = deferred<void>();
  const stream = (sink: Sink) => {
    if (sinks.push(sink) === 200) all.resolve();
  };
  await using served = await serve(async () => ({ code: 200, headers: {}, stream }));
  const watching = await Promise.all(Array.from({ length: 200 }, () => WATCHERS["HTTP/1.1"](served)));
  await all.promise;
  for (const event of [chunk("one,"), chunk("two")]) for (const sink of sinks) sink.write(event);
  for (const sink of sinks) sink.end();
  const bodies = await Promise.all(watching.map(({ received }) => allOf(received)));
  deepEqual(new Set(bodies), new Set(["one,two"]));
  for (const each of watching) each[Symbol.dispose]();
});
