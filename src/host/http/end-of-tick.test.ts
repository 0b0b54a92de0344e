import { deepEqual } from "node:assert/strict";
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

test("the flush after a long one waits as long again, at most 8 ms, and one after a short one does not", () => {
  const rows = [
    { tookMs: 1, delayMs: 0 },
    { tookMs: 5, delayMs: 5 },
    { tookMs: 400, delayMs: 8 },
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
