import assert from "node:assert/strict";
import { test } from "node:test";
import type { SharedBytes, Sink } from "../framework/exchange.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { WatchReceiver } from "../framework/watch.ts";
import type { Encoder } from "./encoder.ts";
import { WaitingBytes } from "./waiting-bytes.ts";
import { streamWatch } from "./watch-stream.ts";
import { stub } from "../../base/testing/stub.ts";

const MIB = 1024 * 1024;

/** A client that reads nothing until it is drained. */
function slowClient(waitingBytes: WaitingBytes) {
  let receiver: WatchReceiver | undefined;
  let waiting = 0;
  const state = { isAborted: false, drain: () => {} };
  const sink: Sink = {
    write: ({ bytes }: SharedBytes) => (waiting += bytes.length),
    end() {},
    abort: () => void (state.isAborted = true),
    onClosed() {},
    onDrained: (listener) => (state.drain = () => ((waiting = 0), listener())),
  };
  const watch = { start: (given: WatchReceiver) => ((receiver = given), { stop() {} }) };
  const encoder = stub<Encoder>({ event: () => new Uint8Array(MIB) });
  streamWatch({ is: "watch", watch } as Extract<Outcome, { is: "watch" }>, { encoder, sink, waitingBytes });
  return {
    state,
    take: (bytes: number) => void (waiting -= bytes),
    event: () => receiver?.event({ type: "BOOKMARK", revision: 1, initialEventsEnd: false }),
  };
}

test("a watch client with more than 16 MiB buffered is disconnected", () => {
  const client = slowClient(new WaitingBytes());

  for (let sent = 0; sent < 16; sent++) void client.event();
  assert.equal(client.state.isAborted, false);
  void client.event();

  assert.equal(client.state.isAborted, true);
});

test("above the total buffer limit, the watch client that has read nothing for the longest time is disconnected", () => {
  const waitingBytes = new WaitingBytes(3 * MIB);
  const [first, second, third] = [slowClient(waitingBytes), slowClient(waitingBytes), slowClient(waitingBytes)];
  const areAborted = () => [first, second, third].map(({ state }) => state.isAborted);

  void first.event();
  void second.event();
  void third.event();
  first.take(MIB / 2);
  void first.event();
  assert.deepEqual(areAborted(), [false, true, false]);
  void first.event();

  assert.deepEqual(areAborted(), [false, true, true]);
});

test("a watch client that never reads is disconnected before one that reads and lags", () => {
  const waitingBytes = new WaitingBytes(8 * MIB);
  const stuck = Array.from({ length: 8 }, () => slowClient(waitingBytes));
  for (const client of stuck) void client.event();
  const behind = slowClient(waitingBytes);

  for (let sent = 0; sent < 8; sent++) void behind.event();

  assert.equal(behind.state.isAborted, false);
  assert.deepEqual(new Set(stuck.map(({ state }) => state.isAborted)), new Set([true]));
});

test("a watch client that has read everything does not count against the total", () => {
  const waitingBytes = new WaitingBytes(3 * MIB);
  const [first, second] = [slowClient(waitingBytes), slowClient(waitingBytes)];

  for (let sent = 0; sent < 3; sent++) void first.event();
  first.state.drain();
  for (let sent = 0; sent < 3; sent++) void second.event();

  assert.deepEqual([first.state.isAborted, second.state.isAborted], [false, false]);
});
