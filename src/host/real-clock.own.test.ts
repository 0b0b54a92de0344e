/** Replaces the timers of its process, so it needs a separate one. */
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { mock, test } from "node:test";
import { realClock, realMacrotask } from "./real-clock.ts";

test("a sleep ends after its duration by the clock's own measure, never before", async () => {
  for (const durationMs of [0, 1, 5, -3, 2.5]) {
    const startMs = realClock.monotonic();
    await realClock.sleep(durationMs);
    ok(realClock.monotonic() - startMs >= durationMs, `${durationMs} ms`);
  }
});

test("now is the wall clock and monotonic never decreases", () => {
  const before = Date.now();
  const now = realClock.now();
  ok(before <= now && now <= Date.now());
  const first = realClock.monotonic();
  ok(realClock.monotonic() >= first);
});

test("soon work runs after ready promises, before a timer, in the order of the calls", async () => {
  const log: string[] = [];
  const enough = new AbortController();
  // Long enough for a busy machine; not awaited.
  const slept = realClock.sleep(60_000, enough.signal).then(
    () => log.push("timer"),
    () => log.push("aborted"),
  );
  realClock.soon(() => log.push("a"));
  realClock.soon(() => {
    log.push("b");
    enough.abort();
  });
  void Promise.resolve().then(() => log.push("promise"));

  await slept;

  deepEqual(log, ["promise", "a", "b", "aborted"]);
});

test("a macrotask runs after every resolved promise", async () => {
  let steps = 0;
  void (async () => {
    while (steps < 1_000) {
      await Promise.resolve();
      steps++;
    }
  })();

  await realMacrotask();

  equal(steps, 1_000);
});

test("external returns its promise unchanged", () => {
  const operation = Promise.resolve(1);
  equal(realClock.external(operation), operation);
});

test("an aborted sleep rejects with the reason, at once if it is aborted already", async () => {
  const controller = new AbortController();
  const sleeping = realClock.sleep(1_000_000, controller.signal);
  controller.abort("enough");
  await rejects(sleeping, (reason) => reason === "enough");
  await rejects(realClock.sleep(1_000_000, controller.signal), (reason) => reason === "enough");
  throws(() => realClock.sleep(NaN), { name: "AssertionFailed" });
});

test("sleeps share one listener on their signal and leave none behind", async () => {
  const { signal } = new AbortController();
  const warnings: unknown[] = [];
  process.on("warning", (warning) => warnings.push(warning));
  const sleeps = Array.from({ length: 100 }, () => realClock.sleep(1, signal));
  equal(getEventListeners(signal, "abort").length, 1);

  await Promise.all(sleeps);
  await realMacrotask();

  deepEqual([getEventListeners(signal, "abort").length, warnings], [0, []]);
});

test("a sleep longer than the timer maximum uses several timers", async () => {
  const TIMER_MAX_MS = 2_147_483_647;
  const timersMs: number[] = [];
  let elapsedMs = 0;
  mock.method(performance, "now", () => elapsedMs);
  // Every timer fires immediately, and advances the time.
  mock.method(globalThis, "setTimeout", (end: () => void, durationMs: number) => {
    timersMs.push(durationMs);
    setImmediate(() => {
      elapsedMs += durationMs;
      end();
    });
  });

  await realClock.sleep(2 * TIMER_MAX_MS + 5);
  mock.restoreAll();

  deepEqual(timersMs, [TIMER_MAX_MS, TIMER_MAX_MS, 5]);
});

test("a timer that fires early is followed by another", async () => {
  const timersMs: number[] = [];
  let elapsedMs = 0;
  mock.method(performance, "now", () => elapsedMs);
  mock.method(globalThis, "setTimeout", (end: () => void, durationMs: number) => {
    timersMs.push(durationMs);
    setImmediate(() => {
      elapsedMs += timersMs.length === 1 ? durationMs - 100 : durationMs;
      end();
    });
  });

  await realClock.sleep(300);
  mock.restoreAll();

  deepEqual([timersMs, elapsedMs], [[300, 100], 300]);
});

test("a sleep without end can be aborted", async () => {
  const controller = new AbortController();
  const sleeping = realClock.sleep(Infinity, controller.signal);
  await realMacrotask();
  controller.abort("over");
  await rejects(sleeping, (reason) => reason === "over");
});
