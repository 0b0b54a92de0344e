import { deepEqual, equal } from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { STREAM_PIECE_BYTES_MAX } from "./limits.ts";
import { NodeSink } from "./sink.ts";
import { EndOfTick } from "./end-of-tick.ts";

/** A client that reads one chunk each time it is asked to. */
function client() {
  const taken: Buffer[] = [];
  let take: () => void = () => undefined;
  const out = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _encoding, done) {
      taken.push(piece);
      take = () => done();
    },
  });
  const state = { isEnded: false };
  const endOfTick = new EndOfTick();
  const sink = new NodeSink({ out, framed: false, end: () => void (state.isEnded = true), abort() {} }, endOfTick);
  return { sink, taken, state, take: () => (take(), new Promise((resolve) => setImmediate(resolve))) };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

function chunk(length: number, fill = "x") {
  return { bytes: Buffer.alloc(length, fill) };
}

test("a client that does not read gets one bounded chunk, and all buffered bytes are counted", async () => {
  const { sink, taken } = client();
  const large = 10 * STREAM_PIECE_BYTES_MAX;

  equal(sink.write(chunk(large)), large);
  await tick();
  // What is in flight counts twice: TLS has a copy of it.
  equal(sink.write(chunk(100)), large + STREAM_PIECE_BYTES_MAX + 100);
  await tick();

  deepEqual(
    taken.map(({ length }) => length),
    [STREAM_PIECE_BYTES_MAX],
  );
});

test("a client receives every byte in order, however it was split, and then the end", async () => {
  const { sink, taken, state, take } = client();
  let expected = "";
  for (const [index, length] of [10, 3 * STREAM_PIECE_BYTES_MAX, 5, STREAM_PIECE_BYTES_MAX, 1, 0, 7].entries()) {
    sink.write(chunk(length, String(index)));
    expected += String(index).repeat(length);
  }
  await tick();
  sink.end();
  equal(state.isEnded, false);
  for (let count = 0; count < 12 && !state.isEnded; count++) await take();

  equal(state.isEnded, true);
  equal(Buffer.concat(taken).toString() === expected, true);
  equal(
    taken.every(({ length }) => length <= STREAM_PIECE_BYTES_MAX),
    true,
  );
});

test("writes of one event-loop tick are sent together, and the writer is notified when all are flushed", async () => {
  const { sink, taken, take } = client();
  let drained = 0;
  sink.onDrained(() => drained++);

  sink.write(chunk(1, "a"));
  sink.write(chunk(1, "b"));
  await tick();
  sink.write(chunk(1, "c"));
  await take();
  equal(drained, 0);
  await take();

  deepEqual([taken.map(String), drained], [["ab", "c"], 1]);
});

test("a stream that is ended with nothing in flight ends immediately", () => {
  const { sink, state } = client();
  sink.end();
  equal(state.isEnded, true);
});
