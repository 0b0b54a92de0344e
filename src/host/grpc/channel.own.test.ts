import { test, type TestContext } from "node:test";
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { Server, ServerCredentials, type ServerDuplexStream, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { GrpcError, openGrpcChannel, type GrpcChannel } from "./channel.ts";
import { realClock } from "../real-clock.ts";
import { startTcpProxy, type TcpProxy } from "../../testing/servers/tcp-proxy.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (message: Uint8Array) => new TextDecoder().decode(message);

type Unary = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => void;
type Bidi = (stream: ServerDuplexStream<Buffer, Buffer>) => void;

const same = (buffer: Buffer) => buffer;
const method = (path: string, streams: boolean) => ({
  path,
  requestStream: streams,
  responseStream: streams,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
});

async function startServer(
  context: TestContext,
  methods: { unary?: Unary; bidi?: Bidi },
  wanted: number | string = 0,
): Promise<{ port: number }> {
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  const unused = () => undefined;
  server.addService(
    { unary: method("/test.Test/Unary", false), bidi: method("/test.Test/Bidi", true) },
    { unary: methods.unary ?? unused, bidi: methods.bidi ?? unused },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(typeof wanted === "string" ? wanted : `127.0.0.1:${wanted}`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  context.after(() => server.forceShutdown());
  return { port };
}

async function openChannel(context: TestContext, port: number, messageBytesMax?: number): Promise<GrpcChannel> {
  const channel = await openGrpcChannel({
    host: "127.0.0.1",
    port,
    clock: realClock,
    ...(messageBytesMax === undefined ? {} : { messageBytesMax }),
  });
  context.after(() => channel.close());
  return channel;
}

async function openProxy(context: TestContext, port: number): Promise<TcpProxy> {
  const proxy = await startTcpProxy(port);
  context.after(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

const echo: Unary = (call, answer) => answer(null, call.request);
const call = (channel: GrpcChannel, request = bytes("hello"), options: Partial<Parameters<GrpcChannel["call"]>[2]> = {}) =>
  channel.call("/test.Test/Unary", request, { timeoutMs: 10_000, ...options });

/** Retries after a while, as a caller does; each call also makes the channel reconnect. */
async function callUntilAnswered(channel: GrpcChannel): Promise<Uint8Array> {
  for (;;) {
    const answer = await call(channel).catch(() => realClock.sleep(20));
    if (answer !== undefined) return answer;
  }
}

async function failureOf(promise: Promise<unknown>): Promise<GrpcError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  ok(error instanceof GrpcError, `expected a GrpcError, got ${String(error)}`);
  return error;
}

test("a call returns the server's response and sends metadata", async (context) => {
  const { port } = await startServer(context, {
    unary: (request, answer) => answer(null, Buffer.from(`${request.request.toString()}, ${String(request.metadata.get("name")[0])}`)),
  });
  const channel = await openChannel(context, port);

  const answer = await call(channel, bytes("hello"), { metadata: { name: "you" } });

  equal(textOf(answer), "hello, you");
  equal(Object.getPrototypeOf(answer), Uint8Array.prototype);
  equal(channel.connection, 1);
});

test("a rejection by the server is an error with its code and message, and counts as sent", async (context) => {
  const { port } = await startServer(context, { unary: (_, answer) => answer({ code: 9, details: "not today" }) });
  const { code, details, sent } = await failureOf(call(await openChannel(context, port)));
  deepEqual({ code, details, sent }, { code: "FAILED_PRECONDITION", details: "not today", sent: true });
});

test("a call without a server fails as not sent, and succeeds once a server listens", async (context) => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const channel = await openChannel(context, port);

  const { code, details, sent, cause } = await failureOf(call(channel));
  deepEqual({ code, sent, cause }, { code: "UNAVAILABLE", sent: false, cause: undefined });
  match(details, /ECONNREFUSED 127\.0\.0\.1:\d+$/);

  await startServer(context, { unary: echo }, port);
  equal(textOf(await callUntilAnswered(channel)), "hello");
});

test("a call whose connection breaks counts as sent; the next one uses a new connection with a new number", async (context) => {
  let broken = false;
  const { port } = await startServer(context, {
    unary: (request, answer) => {
      if (broken) echo(request, answer);
      else proxy.breakConnections();
      broken = true;
    },
  });
  const proxy = await openProxy(context, port);
  const channel = await openChannel(context, proxy.port);

  const { code, sent } = await failureOf(call(channel));
  deepEqual({ code, sent, connection: channel.connection }, { code: "UNAVAILABLE", sent: true, connection: undefined });

  await callUntilAnswered(channel);
  equal(channel.connection, 2);
});

test("a call that exceeds its deadline or is cancelled rejects as sent", async (context) => {
  const { port } = await startServer(context, { unary: (request, answer) => void (request.request.length > 0 && echo(request, answer)) });
  const channel = await openChannel(context, port);
  await call(channel); // A call that waits for the connection until its deadline is not sent.
  const late = await failureOf(call(channel, bytes(""), { timeoutMs: 50 }));
  deepEqual([late.code, late.sent], ["DEADLINE_EXCEEDED", true]);

  const controller = new AbortController();
  const unwanted = failureOf(call(channel, bytes(""), { signal: controller.signal }));
  setImmediate(() => controller.abort());
  equal((await unwanted).code, "CANCELLED");
  const never = await failureOf(call(channel, bytes(""), { signal: controller.signal }));
  deepEqual([never.code, never.sent], ["CANCELLED", false]);
});

test("a host that accepts connections and sends nothing makes calls fail as not sent", async (context) => {
  const silent = createServer((socket) => context.after(() => socket.destroy())).listen(0, "127.0.0.1");
  await once(silent, "listening");
  context.after(() => silent.close());
  const channel = await openChannel(context, (silent.address() as AddressInfo).port);
  const { code, sent } = await failureOf(call(channel, bytes(""), { timeoutMs: 100 }));
  deepEqual([code, sent], ["DEADLINE_EXCEEDED", false]);
});

test("a response over the size limit is rejected", async (context) => {
  const { port } = await startServer(context, { unary: echo });
  const channel = await openChannel(context, port, 1_000);
  equal((await call(channel, new Uint8Array(1_000))).length, 1_000);
  await rejects(call(channel, new Uint8Array(1_001)), { code: "RESOURCE_EXHAUSTED" });
});

test("a stream carries messages both ways until the server ends it", async (context) => {
  const { port } = await startServer(context, {
    bidi: (stream) => {
      stream.on("data", (message: Buffer) => {
        if (message.toString() === "stop") stream.end();
        else stream.write(Buffer.from(`${message.toString()}!`));
      });
    },
  });
  const channel = await openChannel(context, port);
  const seen: string[] = [];
  const end = await new Promise<GrpcError | undefined>((resolve) => {
    const stream = channel.stream("/test.Test/Bidi", {}, { message: (message) => seen.push(textOf(message)), ended: resolve });
    for (const word of ["one", "two", "stop"]) stream.send(bytes(word));
  });
  deepEqual([seen, end], [["one!", "two!"], undefined]);
});

test("a broken stream reports its error once", async (context) => {
  const { port } = await startServer(context, { bidi: () => proxy.breakConnections() });
  const proxy = await openProxy(context, port);
  const channel = await openChannel(context, proxy.port);
  const ends: (GrpcError | undefined)[] = [];
  await new Promise<void>((resolve) => {
    channel
      .stream("/test.Test/Bidi", {}, { message: () => undefined, ended: (error) => resolve(void ends.push(error)) })
      .send(bytes("hello"));
  });
  await new Promise((resolve) => setImmediate(resolve));
  deepEqual(
    ends.map((error) => error?.code),
    ["UNAVAILABLE"],
  );
});

test("a cancelled stream calls no handler, and the server is notified", async (context) => {
  const heard = { resolve: () => {} };
  const cancelled = new Promise<void>((resolve) => (heard.resolve = resolve));
  const { port } = await startServer(context, {
    bidi: (stream) => {
      stream.on("cancelled", () => heard.resolve());
      stream.write(Buffer.from("first"));
    },
  });
  const channel = await openChannel(context, port);
  let calls = 0;
  await new Promise<void>((resolve) => {
    const stream = channel.stream(
      "/test.Test/Bidi",
      {},
      {
        message: () => {
          calls += 1;
          stream.cancel();
          resolve();
        },
        ended: () => void (calls += 100),
      },
    );
  });
  await cancelled;
  equal(calls, 1);
});

test("a paused stream delivers nothing and blocks no other call", async (context) => {
  const { port } = await startServer(context, {
    unary: echo,
    bidi: (stream) => {
      for (let index = 0; index < 200; index++) stream.write(Buffer.alloc(100_000, index));
      stream.end();
    },
  });
  const channel = await openChannel(context, port);
  let seen = 0;
  let atPause = -1;
  await new Promise<void>((resolve) => {
    const stream = channel.stream(
      "/test.Test/Bidi",
      {},
      {
        message: () => {
          seen += 1;
          if (seen !== 1) return;
          stream.pause();
          void call(channel, new Uint8Array(8_000_000)).then(() => {
            atPause = seen;
            stream.resume();
          });
        },
        ended: () => resolve(),
      },
    );
  });
  deepEqual([atPause, seen], [1, 200]);
});

test("closing a channel is idempotent, and a closed channel rejects calls", async (context) => {
  const { port } = await startServer(context, { unary: echo });
  const channel = await openChannel(context, port);
  await call(channel);
  channel.close();
  channel.close();
  const { code, sent } = await failureOf(call(channel));
  deepEqual([code, sent], ["CANCELLED", false]);
});

test("a server at a Unix socket answers after the client has half-closed the stream", async (context) => {
  const directory = mkdtempSync("/tmp/k8ts-grpc-");
  context.after(() => rmSync(directory, { recursive: true }));
  const path = `${directory}/server.sock`;
  const received: string[] = [];
  await startServer(
    context,
    {
      bidi: (stream) => {
        stream.on("data", (message: Buffer) => received.push(message.toString()));
        stream.on("end", () => {
          stream.write(Buffer.from("answer"));
          stream.end();
        });
      },
    },
    `unix:${path}`,
  );
  const channel = await openGrpcChannel({ host: path, port: 0, clock: realClock });
  context.after(() => channel.close());

  await new Promise<void>((resolve) => {
    const stream = channel.stream("/test.Test/Bidi", {}, { message: (message) => received.push(textOf(message)), ended: () => resolve() });
    stream.send(bytes("request"));
    stream.end();
  });

  deepEqual(received, ["request", "answer"]);
});

test("a channel reaches a Unix socket whose path is longer than a socket address", async (context) => {
  const directory = mkdtempSync("/tmp/k8ts-grpc-");
  context.after(() => rmSync(directory, { recursive: true }));
  const long = join(directory, "d".repeat(120));
  mkdirSync(long);
  symlinkSync(long, join(directory, "short"));
  await startServer(context, { unary: echo }, `unix:${join(directory, "short", "server.sock")}`);
  const channel = await openGrpcChannel({ host: join(long, "server.sock"), port: 0, clock: realClock });
  context.after(() => channel.close());

  equal(textOf(await call(channel)), "hello");
});
