import assert from "node:assert/strict";
import test from "node:test";
import type { ByteStream } from "../../base/byte-stream.ts";
import { streamPair } from "../../testing/fixtures/stream-pair.ts";
import type { SpdySession } from "./contract.ts";
import { FrameDecoder } from "./frame-decoder.ts";
import { encodeFrame, GOAWAY, RESET, type Frame } from "./frames.ts";
import { HeaderWriter } from "./header-blocks.ts";
import { ANSWERS_WAITING_BYTES_MAX, STREAMS_MAX, WAITING_BYTES_MAX } from "./limits.ts";
import { spdySession } from "./session.ts";

/** A client that sends arbitrary frames, and a server of ours. */
function attack(): {
  readonly server: SpdySession;
  readonly wire: ByteStream;
  send(...frames: readonly Frame[]): void;
  answers(): Promise<Frame[]>;
} {
  const [wire, far] = streamPair();
  const writer = new HeaderWriter();
  return {
    server: spdySession(far, { role: "server" }),
    wire,
    send: (...frames) => void wire.write(Buffer.concat(frames.map((frame) => encodeFrame(frame, writer)))).catch(() => undefined),
    /** All frames until the server closes, without its first ones. */
    async answers() {
      const decoder = new FrameDecoder();
      const frames: Frame[] = [];
      for await (const chunk of wire.input) frames.push(...decoder.take(chunk));
      wire.end();
      return frames.filter(({ is }) => is !== "settings");
    },
  };
}

const open = (streamId: number): Frame => ({ is: "syn-stream", streamId, headers: {}, isLast: false });
const data = (streamId: number, bytes = 1, isLast = false): Frame => ({ is: "data", streamId, bytes: Buffer.alloc(bytes), isLast });
const goaway = (lastStreamId: number): Frame => ({ is: "goaway", lastStreamId, status: GOAWAY.protocolError });
const reply = (streamId: number): Frame => ({ is: "syn-reply", streamId, headers: {}, isLast: false });

for (const [what, frames, last] of [
  ["data of a stream that was never opened", [data(7)], 0],
  ["a stream with an even number", [open(2)], 0],
  ["a stream with a number that was used", [open(3), open(3)], 3],
  ["a stream with a number below one that was used", [open(5), open(3)], 5],
] as const) {
  test(`a client that sends ${what} gets GOAWAY`, async () => {
    const { server, send, answers } = attack();
    server.onStream(() => undefined);

    send(...frames);

    assert.deepEqual((await answers()).at(-1), goaway(last));
    await server.closed;
  });
}

test("a client that speaks another protocol gets GOAWAY", async () => {
  const { server, wire, answers } = attack();

  void wire.write(Buffer.from("\u0080GET / HTTP/1.1\r\n\r\n", "latin1"));

  assert.deepEqual(await answers(), [goaway(0)]);
  await server.closed;
});

test("data after a stream's end resets the stream, and the session continues", async () => {
  const { server, send, answers } = attack();
  server.onStream(() => undefined);

  send(open(1), data(1, 1, true), data(1), open(3));
  send({ is: "ping", id: 9 });
  await new Promise(setImmediate);
  server.close();

  const received = await answers();
  assert.deepEqual(received, [
    reply(1),
    { is: "reset", streamId: 1, status: RESET.streamAlreadyClosed },
    reply(3),
    { is: "ping", id: 9 },
    { is: "goaway", lastStreamId: 3, status: GOAWAY.ok },
  ]);
});

test("a stream over the limit is refused, and accepted again when another ends", async () => {
  const { server, send, answers } = attack();
  server.onStream(() => undefined);
  const id = (index: number) => 2 * index + 1;

  for (let index = 0; index <= STREAMS_MAX; index++) send(open(id(index)));
  send({ is: "reset", streamId: 1, status: RESET.cancel }, open(id(STREAMS_MAX + 1)), data(12_345_677));

  const received = await answers();
  assert.deepEqual(
    received.filter(({ is }) => is === "reset"),
    [{ is: "reset", streamId: id(STREAMS_MAX), status: RESET.refusedStream }],
  );
  assert.deepEqual(received.at(-2), reply(id(STREAMS_MAX + 1)));
});

test("a client that pings and does not read the responses is disconnected", async () => {
  const { server, wire, send } = attack();

  for (let sent = 0; sent < ANSWERS_WAITING_BYTES_MAX * 3; sent += 12) send({ is: "ping", id: 1 });

  await server.closed;
  await assert.rejects(wire.write(Buffer.alloc(1)));
});

for (const size of [1, 16 << 10]) {
  test(`data in frames of ${size} that is not read blocks the client at a limit`, async () => {
    const { server, wire } = attack();
    const writer = new HeaderWriter();
    server.onStream(() => undefined);
    await wire.write(encodeFrame(open(1), writer));
    const frame = encodeFrame(data(1, size), writer);

    let takenBytes = 0;
    const sending = (async () => {
      for (; takenBytes < WAITING_BYTES_MAX * 4; takenBytes += frame.length) await wire.write(frame);
      return "all was taken";
    })().catch(() => "held up, then cut");
    for (let last = -1; last !== takenBytes;) {
      last = takenBytes;
      for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    }

    // The buffers of the socket pair are added.
    assert.ok(takenBytes < WAITING_BYTES_MAX + (256 << 10), `${takenBytes} bytes were taken`);
    server.abort();
    assert.equal(await sending, "held up, then cut");
  });
}

test("a server cannot open streams to a client", async () => {
  const [far, near] = streamPair();
  const client = spdySession(near, { role: "client" });
  const seen: unknown[] = [];
  client.onStream((stream) => void seen.push(stream));
  const decoder = new FrameDecoder();
  const reader = far.input[Symbol.asyncIterator]();

  await far.write(encodeFrame(open(2), new HeaderWriter()));
  const received: Frame[] = [];
  while (received.length < 2) received.push(...decoder.take((await reader.next()).value as Uint8Array));

  assert.deepEqual(received[1], { is: "reset", streamId: 2, status: RESET.refusedStream });
  assert.deepEqual(seen, []);
  client.abort();
});
