import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { WebSocketConnection } from "../../../host/http/contract.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { OpenStreams } from "./open-streams.ts";

/** A connection that records how it ends. */
function aWebSocket() {
  const closed: (() => void)[] = [];
  const hear: ((message: Uint8Array, options: { readonly binary: boolean }) => void)[] = [];
  const ends: string[] = [];
  const nothing = (): void => undefined;
  const end = (how: string) => {
    ends.push(how);
    for (const listener of closed.splice(0)) listener();
  };
  const connection: WebSocketConnection = {
    ...{ protocol: "", pause: nothing, resume: nothing, onDrained: nothing },
    send: () => 0,
    onMessage: (listener) => void hear.push(listener),
    close: (code) => end(`closed ${code}`),
    abort: () => end("aborted"),
    onClosed: (listener) => void closed.push(listener),
  };
  return { connection, ends, says: () => hear.forEach((listener) => listener(new Uint8Array(), { binary: true })) };
}

test("an idle WebSocket is closed after the timeout, and each message resets it", async () => {
  const clock = virtualClock();
  const streams = new OpenStreams(clock, 1_000);
  const { connection, ends, says } = aWebSocket();
  const watched = streams.webSocket(connection);
  watched.onMessage(() => undefined);
  await clock.advance(900);
  watched.send(new Uint8Array(), { binary: true });
  await clock.advance(900);
  says();
  await clock.advance(900);
  deepEqual([ends, streams.size], [[], 1]);

  await clock.advance(100);
  deepEqual([ends, streams.size], [["closed 1001"], 0]);
});

/** The test pulls the input. */
function aStream(chunks: AsyncIterable<Uint8Array>) {
  const ends: string[] = [];
  let close = (): void => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const stream: ByteStream = {
    input: chunks,
    write: () => Promise.resolve(),
    end: () => void ends.push("ended"),
    abort() {
      ends.push("aborted");
      close();
    },
    closed,
  };
  return { stream, ends };
}

test("bytes in either direction reset the idle timeout of a stream", async () => {
  const clock = virtualClock();
  const streams = new OpenStreams(clock, 1_000);
  const { stream, ends } = aStream(
    (async function* () {
      await clock.sleep(900);
      yield new Uint8Array(1);
      await clock.sleep(5_000);
    })(),
  );
  const watched = streams.bytes(stream);
  const read = (async () => {
    for await (const _ of watched.input) await watched.write(new Uint8Array(1));
  })();
  await clock.advance(1_800);
  deepEqual(ends, []);
  await clock.advance(200);
  deepEqual([ends, streams.size], [["aborted"], 0]);
  await clock.advance(10_000);
  await read;
});

test("stopping closes all streams, and rejects later ones", async () => {
  const streams = new OpenStreams(virtualClock(), 1_000);
  const [early, late] = [aWebSocket(), aWebSocket()];
  const bytes = aStream((async function* (): AsyncGenerator<Uint8Array> {})());
  streams.webSocket(early.connection);
  streams.bytes(bytes.stream);
  streams.close();
  streams.webSocket(late.connection);
  await bytes.stream.closed;
  await Promise.resolve();

  deepEqual([early.ends, bytes.ends, late.ends], [["closed 1001"], ["aborted"], ["closed 1001"]]);
  equal(streams.size, 0);
});
