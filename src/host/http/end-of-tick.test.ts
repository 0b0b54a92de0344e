import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { EndOfTick, type EndOfTickClock } from "./end-of-tick.ts";

/** A clock that only advances when a test says so, and records when callbacks are due. */
class ManualClock implements EndOfTickClock {
  nowMs = 100;
  readonly due: { readonly delayMs: number; readonly callback: () => void }[] = [];

  monotonic(): number {
    return this.nowMs;
  }

  soon(callback: () => void): void {
    this.due.push({ delayMs: 0, callback });
  }

  after(delayMs: number, callback: () => void): void {
    this.due.push({ delayMs, callback });
  }

  /** Returns the delay of the callback that it ran. */
  runNext(): number {
    const { delayMs = -1, callback } = this.due.shift() ?? {};
    this.nowMs += delayMs;
    callback?.();
    return delayMs;
  }
}

test("streams that write in one tick are flushed together at its end", () => {
  const clock = new ManualClock();
  const flushed: string[] = [];
  const endOfTick = new EndOfTick(clock);
  for (const name of ["a", "b"]) endOfTick.flushAtEnd({ flush: () => void flushed.push(name) });

  deepEqual([flushed, clock.due.length], [[], 1]);
  clock.runNext();
  deepEqual(flushed, ["a", "b"]);
});

test("the flush after a long one waits as long again, at most 14 ms, and one after a short one does not", () => {
  const rows = [
    { tookMs: 1, delayMs: 0 },
    { tookMs: 5, delayMs: 5 },
    { tookMs: 400, delayMs: 14 },
  ];
  for (const { tookMs, delayMs } of rows) {
    const clock = new ManualClock();
    const endOfTick = new EndOfTick(clock);
    endOfTick.flushAtEnd({ flush: () => void (clock.nowMs += tookMs) });
    clock.runNext();

    endOfTick.flushAtEnd({ flush() {} });

    deepEqual(clock.runNext(), delayMs);
  }
});

test("a pause that is over delays nothing", () => {
  const clock = new ManualClock();
  const endOfTick = new EndOfTick(clock);
  endOfTick.flushAtEnd({ flush: () => void (clock.nowMs += 10) });
  clock.runNext();
  clock.nowMs += 11;

  endOfTick.flushAtEnd({ flush() {} });

  deepEqual(clock.runNext(), 0);
});

test("streams that send the same chunks share the bytes, others get their own", () => {
  const endOfTick = new EndOfTick(new ManualClock());
  const [a, b, c] = [Uint8Array.of(1, 2), Uint8Array.of(3), Uint8Array.of(3)];

  const first = endOfTick.joined([a, b]);

  deepEqual([...first], [1, 2, 3]);
  equal(endOfTick.joined([a, b]), first);
  equal(endOfTick.joined([a]), a);
  for (const chunks of [
    [b, a],
    [a, c],
    [a, b, c],
    [a, b],
  ])
    deepEqual([...endOfTick.joined(chunks)], [...Buffer.concat(chunks)]);
});

test("bytes that streams shared are not kept after the flush", () => {
  const clock = new ManualClock();
  const endOfTick = new EndOfTick(clock);
  const chunks = [Uint8Array.of(1), Uint8Array.of(2)];
  const sent: Uint8Array[] = [];
  for (const _ of [1, 2]) {
    endOfTick.flushAtEnd({ flush: () => void sent.push(endOfTick.joined(chunks)) });
    clock.runNext();
  }

  equal(sent.length, 2);
  equal(sent[0] === sent[1], false);
});
