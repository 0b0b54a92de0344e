import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import test from "node:test";
import type { ByteStream } from "../../base/byte-stream.ts";
import { readAll, streamPair } from "../../testing/fixtures/stream-pair.ts";
import { streamOfSocket } from "../network/byte-streams.ts";
import type { SpdySession, SpdyStream } from "./contract.ts";
import { spdySession } from "./session.ts";

interface Both {
  readonly client: SpdySession;
  readonly server: SpdySession;
}

function inMemory(): Both {
  const [a, b] = streamPair();
  return { client: spdySession(a, { role: "client" }), server: spdySession(b, { role: "server" }) };
}

/** Two ends of a TCP connection, closed at the end of the test. */
async function socketPair(t: test.TestContext): Promise<readonly [Socket, Socket]> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const near = connect({ port: (listener.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  const [far] = (await once(listener, "connection")) as [Socket];
  t.after(() => {
    near.destroy();
    far.destroy();
    listener.close();
  });
  return [near, far];
}

async function overSockets(t: test.TestContext): Promise<Both> {
  const [near, far] = await socketPair(t);
  return { client: spdySession(streamOfSocket(near), { role: "client" }), server: spdySession(streamOfSocket(far), { role: "server" }) };
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const bytes = (words: string) => Buffer.from(words);

/** The next stream that the client opens, on both sides. */
async function openOne({ client, server }: Both, headers: Record<string, string> = {}): Promise<{ near: SpdyStream; far: SpdyStream }> {
  const came = new Promise<SpdyStream>((resolve) => server.onStream(resolve));
  const near = await client.open(headers);
  return { near, far: await came };
}

function sideOf(stream: ByteStream): ByteStream {
  return {
    input: stream.input,
    write: (chunk) => stream.write(chunk),
    end: () => stream.end(),
    abort: () => stream.abort(),
    closed: stream.closed,
  };
}

async function echoAll(stream: ByteStream): Promise<void> {
  for await (const chunk of stream.input) await stream.write(chunk);
  stream.end();
}

test("a stream arrives with its headers and carries bytes both ways until each side ends", async () => {
  const { near, far } = await openOne(inMemory(), { streamtype: "data", port: "80" });

  await near.write(bytes("ping"));
  near.end();
  const received = text(await readAll(far.input));
  await far.write(bytes("pong"));
  far.end();

  assert.deepEqual({ ...far.headers }, { streamtype: "data", port: "80" });
  assert.equal(received, "ping");
  assert.equal(text(await readAll(near.input)), "pong");
  await Promise.all([near.closed, far.closed]);
});

test("streams that arrive before there is a listener are queued, and replied to only then", async () => {
  const { client, server } = inMemory();
  let isTaken = false;
  const opened = client.open({ name: "early" }).then((stream) => ((isTaken = true), stream));
  await new Promise(setImmediate);

  assert.equal(isTaken, false);
  server.onStream((stream) => void echoAll(stream));
  const stream = await opened;
  await stream.write(bytes("hello"));
  stream.end();

  assert.equal(text(await readAll(stream.input)), "hello");
});

test("a listener that resets a stream refuses it, and the session continues", async () => {
  const { client, server } = inMemory();
  server.onStream((stream) => (stream.headers["good"] === "yes" ? void echoAll(stream) : stream.reset()));

  await assert.rejects(client.open({ good: "no" }), /The peer reset stream 1/);
  const stream = await client.open({ good: "yes" });
  stream.end();

  assert.equal(text(await readAll(stream.input)), "");
});

test("what was written before a reset from the other side can still be read; then reading throws and writing rejects", async () => {
  const { near, far } = await openOne(inMemory());

  await far.write(bytes("last words"));
  far.reset();
  const reader = near.input[Symbol.asyncIterator]();

  assert.equal(text((await reader.next()).value as Uint8Array), "last words");
  await assert.rejects(reader.next(), /The peer reset stream 1/);
  await assert.rejects(near.write(bytes("more")), /it is closed/);
  await near.closed;
});

test("closing sends what was written and then ends both sides", async (t) => {
  const both = await overSockets(t);
  const { near, far } = await openOne(both);

  const written = near.write(bytes("to the end"));
  near.end();
  both.client.close();

  assert.equal(text(await readAll(far.input)), "to the end");
  await written;
  await Promise.all([both.client.closed, both.server.closed]);
  await assert.rejects(both.client.open({}), /The session is closed/);
});

test("a broken connection rejects every stream", async (t) => {
  const both = await overSockets(t);
  const { near, far } = await openOne(both);

  both.server.abort();

  await assert.rejects(readAll(near.input));
  await assert.rejects(readAll(far.input), /The session was aborted/);
  await Promise.all([both.client.closed, both.server.closed, near.closed, far.closed]);
});

test("50 MB are transferred unchanged in both directions", async (t) => {
  const both = await overSockets(t);
  both.server.onStream((stream) => void echoAll(stream));
  const stream = await both.client.open({});
  const chunk = Buffer.alloc(1 << 20);
  for (let at = 0; at < chunk.length; at++) chunk[at] = (at * 31) >> 3;
  const sent = createHash("sha256");
  const received = createHash("sha256");

  const sending = (async () => {
    for (let count = 0; count < 50; count++) {
      chunk.writeUInt32BE(count);
      sent.update(chunk);
      await stream.write(chunk);
    }
    stream.end();
  })();
  for await (const piece of stream.input) received.update(piece);
  await sending;

  assert.equal(received.digest("hex"), sent.digest("hex"));
});

for (const windows of [true, false]) {
  test(`a reader that does not read blocks the writer ${windows ? "after one window" : "also if the reader's side does not support windows"}`, async (t) => {
    const [near, far] = await socketPair(t);
    const client = spdySession(streamOfSocket(near), { role: "client" });
    const server = spdySession(windows ? streamOfSocket(far) : withoutSettings(streamOfSocket(far)), { role: "server" });
    const { near: stream, far: other } = await openOne({ client, server });
    // Waits for the peer's settings.
    await other.write(bytes("x"));
    await stream.input[Symbol.asyncIterator]().next();
    const chunk = Buffer.alloc(64 << 10);

    let writtenBytes = 0;
    const writing = (async () => {
      for (; writtenBytes < 256 << 20; writtenBytes += chunk.length) await stream.write(chunk);
    })();
    await quiet(() => writtenBytes);

    assert.ok(writtenBytes <= (windows ? 64 << 10 : 32 << 20), `${writtenBytes} bytes were written`);
    let readBytes = 0;
    for await (const piece of other.input) {
      readBytes += piece.length;
      if (readBytes >= 40 << 20) break;
    }
    client.abort();
    await assert.rejects(writing);
  });
}

/** Drops the first frame, the settings with the window, which spdystream never sends. */
function withoutSettings(stream: ByteStream): ByteStream {
  let isFirst = true;
  return {
    ...sideOf(stream),
    write(chunk) {
      if (!isFirst) return stream.write(chunk);
      isFirst = false;
      return Promise.resolve();
    },
  };
}

/** Waits until a number has stayed the same for many event-loop ticks. */
async function quiet(number: () => number): Promise<void> {
  for (let turns = 0, last = -1; turns < 2_000; turns++) {
    if (number() !== last) turns = 0;
    last = number();
    await new Promise(setImmediate);
  }
}

test("an unread stream does not block the others of a peer with flow control", async (t) => {
  const both = await overSockets(t);
  both.server.onStream((stream) => void (stream.headers["read"] === "yes" ? echoAll(stream) : undefined));
  const stuck = await both.client.open({ read: "no" });
  const flowing = await both.client.open({ read: "yes" });
  // The server's settings have arrived with its responses.
  const stuckWrite = stuck.write(Buffer.alloc(8 << 20)).catch(() => "given up");

  const sent = Buffer.alloc(4 << 20, 7);
  const sending = flowing.write(sent).then(() => flowing.end());

  assert.equal((await readAll(flowing.input)).length, sent.length);
  await sending;
  both.client.abort();
  assert.equal(await stuckWrite, "given up");
});

test("1,000 concurrent streams each receive their own bytes", async (t) => {
  const both = await overSockets(t);
  both.server.onStream((stream) => void echoAll(stream));

  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const stream = await both.client.open({ index: String(index) });
      await stream.write(bytes(`number ${index}`));
      stream.end();
      return text(await readAll(stream.input));
    }),
  );

  assert.deepEqual(
    answers,
    answers.map((_, index) => `number ${index}`),
  );
});
