import assert from "node:assert/strict";
import { test } from "node:test";
import type { SharedBytes, Sink } from "../exchange.ts";
import type { Outcome } from "../outcome.ts";
import type { WatchReceiver } from "../watch/watch-start.ts";
import type { Encoder } from "./encoder.ts";
import { WaitingBytes } from "./waiting-bytes.ts";
import { streamWatch } from "./watch-stream.ts";

const MIB = 1024 * 1024;

/** A client that takes nothing of what it is sent until it is drained. */
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
  const encoder = { event: () => new Uint8Array(MIB) } as unknown as Encoder;
  streamWatch({ is: "watch", watch } as unknown as Extract<Outcome, { is: "watch" }>, { encoder, sink, waitingBytes });
  return { state, event: () => receiver?.event({ type: "BOOKMARK", revision: 1, initialEventsEnd: false }) };
}

test("a client for whom more than 16 MiB wait is cut off", () => {
  const client = slowClient(new WaitingBytes());

  for (let sent = 0; sent < 16; sent++) void client.event();
  assert.equal(client.state.isAborted, false);
  void client.event();

  assert.equal(client.state.isAborted, true);
});

test("what waits for all clients together has a limit, too: above it those who are behind go", () => {
  const waitingBytes = new WaitingBytes(3 * MIB);
  const [first, second] = [slowClient(waitingBytes), slowClient(waitingBytes)];

  void first.event();
  void first.event();
  void second.event();
  assert.deepEqual([first.state.isAborted, second.state.isAborted], [false, false]);
  void second.event();

  assert.deepEqual([first.state.isAborted, second.state.isAborted], [false, true]);
});

test("a client that has taken everything does not count", () => {
  const waitingBytes = new WaitingBytes(3 * MIB);
  const [first, second] = [slowClient(waitingBytes), slowClient(waitingBytes)];

  for (let sent = 0; sent < 3; sent++) void first.event();
  first.state.drain();
  for (let sent = 0; sent < 3; sent++) void second.event();

  assert.deepEqual([first.state.isAborted, second.state.isAborted], [false, false]);
});
