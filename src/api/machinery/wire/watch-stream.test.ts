import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransportEvent } from "../transport.ts";
import { isReason } from "../status-error.ts";
import { WatchStream, type WatchBody } from "./watch-stream.ts";

/** A watch that receives these lines at once. */
function receivedFrom(...lines: readonly string[]) {
  const events: TransportEvent[] = [];
  const calls = { ends: 0, aborts: 0 };
  let stream: Parameters<WatchBody["stream"]>[0] | undefined;
  const answer: WatchBody = {
    stream: (listener) => void (stream = listener),
    abort: () => void calls.aborts++,
  };
  const listener = { event: (event: TransportEvent) => void events.push(event), ended: () => void calls.ends++ };
  new WatchStream(answer, listener, () => undefined).start();
  stream?.piece(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  return { events, calls };
}

const GOOD = '{"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"5"}}}';

const odd: readonly [line: string, sentence: RegExp][] = [
  ["null", /it must be an object/],
  ["[]", /it must be an object/],
  ["5", /it must be an object/],
  ['{"type":"ADDED"}', /it has no object/],
  ['{"type":"ADDED","object":null}', /it has no object/],
  ['{"type":"ADDED","object":[]}', /it has no object/],
  ['{"type":"ADDED","object":{}}', /its object has no metadata/],
  ['{"type":"MODIFIED","object":{"metadata":null}}', /its object has no metadata/],
  ['{"type":"DELETED","object":{"metadata":[]}}', /its object has no metadata/],
  ['{"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}}}', /its object has no name/],
  ['{"type":"ADDED","object":{"metadata":{"name":"","resourceVersion":"5"}}}', /its object has no name/],
  ['{"type":"ADDED","object":{"metadata":{"name":5,"resourceVersion":"5"}}}', /its object has no name/],
  ['{"type":"ADDED","object":{"metadata":{"name":"a","namespace":5,"resourceVersion":"5"}}}', /its object's namespace must be a text/],
  ['{"type":"ADDED","object":{"metadata":{"name":"a"}}}', /its object has no resourceVersion/],
  ['{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":5}}}', /its object has no resourceVersion/],
  ['{"type":"BOOKMARK","object":{}}', /its object has no metadata/],
  ['{"type":"BOOKMARK","object":{"metadata":{}}}', /its object has no resourceVersion/],
  ['{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":5}}}', /its object has no resourceVersion/],
  ['{"type":"OTHER","object":{"metadata":{}}}', /got invalid watch event type: OTHER/],
];
for (const [line, sentence] of odd) {
  test(`${line} ends the watch with an error, and nothing after it is delivered`, () => {
    const { events, calls } = receivedFrom(GOOD, line, GOOD);

    assert.deepEqual(
      events.map(({ type }) => type),
      ["ADDED", "ERROR"],
    );
    const [, last] = events;
    assert(last?.type === "ERROR" && isReason(last.error, "InternalError"));
    assert.match(last.error.message, /unable to decode an event from the watch stream/);
    assert.match(last.error.message, sentence);
    assert.deepEqual(calls, { ends: 1, aborts: 1 });
  });
}

test("an ERROR event without a Status is still an error", () => {
  const { events, calls } = receivedFrom('{"type":"ERROR","object":{}}', GOOD);
  assert.equal(events.length, 1);
  assert(events[0]?.type === "ERROR" && isReason(events[0].error, "InternalError"));
  assert.deepEqual(calls, { ends: 1, aborts: 1 });
});
