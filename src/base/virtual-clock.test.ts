import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../testing/rounds.ts";
import { countedSignal } from "./testing/counted-signal.ts";
import { VirtualClock } from "./virtual-clock.ts";

const macrotask = () => new Promise<void>((resolve) => void setImmediate(resolve));

function aClock(options: { readonly startMs?: number; readonly turnsPerInstantMax?: number } = {}) {
  const clock = new VirtualClock({ macrotask, ...options });
  const log: string[] = [];
  return { clock, log, note: (text: string) => void log.push(`${clock.monotonic()} ${text}`) };
}

/** Resolves, or returns the rejection. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return "fulfilled";
  } catch (error) {
    return error;
  }
}

test("virtual time stands still until it is advanced, and both readings advance alike", async () => {
  const { clock } = aClock({ startMs: 5_000 });
  await clock.settle();
  deepEqual([clock.now(), clock.monotonic()], [5_000, 0]);

  await clock.advance(250);

  deepEqual([clock.now(), clock.monotonic()], [5_250, 250]);
});

test("sleeps end ordered by time, then by call, each at its own time", async () => {
  const { clock, log, note } = aClock();
  for (const [name, durationMs] of Object.entries({ late: 30, early: 10, alsoEarly: 10, now: 0, past: -5, tooLate: 31 })) {
    void clock.sleep(durationMs).then(() => note(name));
  }

  await clock.advance(30);

  deepEqual(log, ["0 now", "0 past", "10 early", "10 alsoEarly", "30 late"]);
  equal(clock.sleeping, 1);
});

test("advancing by 0 wakes what is due now", async () => {
  const { clock, log, note } = aClock();
  void clock.sleep(0).then(() => note("due"));
  void clock.sleep(1).then(() => note("not due"));
  await clock.settle();
  deepEqual(log, [], "a sleep ends at a timer turn, and settling is none");

  await clock.advance(0);

  deepEqual(log, ["0 due"]);
});

test("negative or infinite steps and sleeps that are not numbers are rejected", async () => {
  const { clock } = aClock();
  for (const durationMs of [-1, Infinity, NaN]) await rejects(clock.advance(durationMs), { name: "AssertionFailed" });
  throws(() => clock.sleep(NaN), { name: "AssertionFailed" });
});

test("a sleep that begins during an advance ends in it if there is time", async () => {
  const { clock, log, note } = aClock();
  const ticking = (async () => {
    for (let tick = 0; tick < 3; tick++) {
      await clock.sleep(10);
      note(`tick ${tick}`);
    }
  })();

  await clock.advance(25);
  await clock.advance(5);
  await ticking;

  deepEqual(log, ["10 tick 0", "20 tick 1", "30 tick 2"]);
});

test("everything that follows from one timer has happened before the next one fires", async () => {
  const { clock, log, note } = aClock();
  void clock.sleep(10).then(async () => {
    for (let step = 0; step < 50; step++) await Promise.resolve();
    note("promises of the first");
    clock.soon(() => {
      note("soon of the first");
      void Promise.resolve().then(() => note("promise of that"));
    });
  });
  void clock.sleep(10).then(() => note("second"));

  await clock.advance(10);

  deepEqual(log, ["10 promises of the first", "10 soon of the first", "10 promise of that", "10 second"]);
});

test("soon work runs in call order, after ready promises, with its own promises before the next work", async () => {
  const { clock, log, note } = aClock();
  clock.soon(() => {
    note("a");
    clock.soon(() => note("c"));
    void Promise.resolve().then(() => note("promise of a"));
  });
  clock.soon(() => note("b"));
  void Promise.resolve().then(() => note("ready promise"));
  deepEqual(log, [], "nothing runs inside of the call");

  await clock.settle();

  deepEqual(log, ["0 ready promise", "0 a", "0 promise of a", "0 b", "0 c"]);
});

test("time does not advance while a declared external operation is pending", async () => {
  const { clock, log, note } = aClock({ turnsPerInstantMax: 5 });
  void clock.sleep(10).then(() => note("timer"));
  let finish = () => {};
  void clock.external(new Promise<void>((resolve) => (finish = resolve))).then(() => note("outside"));
  const advancing = clock.advance(10);
  for (let turn = 0; turn < 20; turn++) await macrotask();
  deepEqual(log, [], "real turns of the event loop do not count");

  finish();
  await advancing;

  deepEqual(log, ["0 outside", "10 timer"]);
});

test("each declared operation is awaited, whether it fails or not, and returns its result", async () => {
  const { clock } = aClock();
  const failure = new Error("no such file");
  const operation = macrotask().then(() => "bytes");
  const failing = clock.external(macrotask().then(() => Promise.reject(failure)));
  const open = [outcome(failing), clock.external(operation)];
  equal(clock.external(operation), operation, "the promise itself comes back");
  let isSettled = false;
  const settling = clock.settle().then(() => (isSettled = true));

  const results = await Promise.all(open);

  equal(isSettled, false);
  await settling;
  deepEqual(results, [failure, "bytes"]);
});

test("an aborted sleep rejects with the signal's reason, immediately if already aborted, and is removed", async () => {
  const { clock } = aClock();
  const controller = new AbortController();
  const sleeping = outcome(clock.sleep(10, controller.signal));
  controller.abort("enough");

  deepEqual([await sleeping, await outcome(clock.sleep(10, controller.signal)), clock.sleeping], ["enough", "enough", 0]);
});

test("sleeps leave no abort listener behind, however they end", async () => {
  const { clock } = aClock();
  const { signal, listenerCount } = countedSignal();
  const sleeps = Array.from({ length: 100 }, (_, index) => clock.sleep(index, signal));
  equal(listenerCount(), 1, "a hundred sleeps share one listener");

  await clock.advance(100);
  await Promise.all(sleeps);

  equal(listenerCount(), 0);
});

test("an infinite sleep waits for its signal only", async () => {
  const { clock } = aClock();
  const controller = new AbortController();
  const sleeping = outcome(clock.sleep(Infinity, controller.signal));
  await clock.advance(1e12);
  equal(clock.sleeping, 1);

  controller.abort("over");

  equal(await sleeping, "over");
});

test("fractions of a millisecond are rounded up, as by real timers", async () => {
  const { clock, log, note } = aClock();
  void clock.sleep(0.2).then(() => note("woke"));

  await clock.advance(5);

  deepEqual(log, ["1 woke"]);
});

test("advanceUntil stops at the first instant at which the condition holds", async () => {
  const { clock } = aClock();
  let count = 0;
  void (async () => {
    for (;;) {
      await clock.sleep(7);
      count++;
    }
  })();

  await clock.advanceUntil(() => count === 3, { withinMs: 1_000 });

  deepEqual([clock.monotonic(), count], [21, 3]);
});

test("advanceUntil re-evaluates the condition as time advances, and rejects at its limit", async () => {
  const { clock } = aClock();
  await clock.advanceUntil(() => clock.monotonic() >= 50, { withinMs: 50 });
  await rejects(
    clock.advanceUntil(() => false, { withinMs: 50 }),
    { message: "Gave up waiting: after 50 ms of virtual time the condition is still false" },
  );
  equal(clock.monotonic(), 100);
});

test("an error thrown by soon work rejects the driver, and the remaining work still runs", async () => {
  const { clock, log, note } = aClock();
  const failure = new Error("broken");
  clock.soon(() => {
    throw failure;
  });
  clock.soon(() => note("next"));

  await rejects(clock.settle(), failure);
  await clock.settle();

  deepEqual(log, ["0 next"]);
});

test("only one driver may advance the clock at a time", async () => {
  const { clock } = aClock();
  const advancing = clock.advance(10);
  await rejects(clock.settle(), { name: "AssertionFailed" });
  await advancing;
  await clock.settle();
});

// ── the limit on ticks ──────────────────────────────────────────────────────────────────────────────

for (const { queue, loop } of [
  {
    queue: "soon",
    loop: (clock: VirtualClock) => {
      const busyWork = () => clock.soon(busyWork);
      busyWork();
    },
  },
  {
    queue: "sleep",
    loop: (clock: VirtualClock) => {
      void (async function busyWork() {
        for (;;) await clock.sleep(0);
      })();
    },
  },
  {
    queue: "external",
    loop: (clock: VirtualClock) => {
      // Real event-loop ticks: without an end they would outlive the test.
      void (async function busyWork() {
        for (let turn = 0; turn < 500; turn++) await clock.external(macrotask());
      })();
    },
  },
]) {
  test(`an endless loop of ${queue} fails with an error that names the queue and the caller`, async () => {
    const { clock } = aClock({ turnsPerInstantMax: 50 });
    loop(clock);

    const error = (await outcome(clock.advance(1))) as Error;

    match(error.message, /^Virtual time cannot move on from 2026-01-01T00:00:00\.000Z: more than 50 turns at this instant/);
    match(error.message, new RegExp(`most of them "${queue}" \\(.*${queue} 51`));
    match((error.cause as Error).stack ?? "", /busyWork/);
  });
}

test("ticks are counted per instant, so that a long run is not an endless loop", async () => {
  const { clock } = aClock({ turnsPerInstantMax: 10 });
  let ticks = 0;
  void (async () => {
    for (;;) {
      await clock.sleep(1);
      ticks++;
    }
  })();

  await clock.advance(100);

  equal(ticks, 100);
});

// ── property ────────────────────────────────────────────────────────────────────────────────────────

test("sleeps end ordered by time and call, and at their time, under any cancellations", async () => {
  const sleeps = fc.array(
    fc.record({ durationMs: fc.integer({ min: 0, max: 20 }), cancelAtMs: fc.option(fc.integer({ min: 0, max: 20 })) }),
    {
      maxLength: 30,
    },
  );
  await fc.assert(
    fc.asyncProperty(sleeps, async (all) => {
      const { clock, log, note } = aClock();
      // Cancellations first, so that at the same instant the cancellation wins.
      const controllers = all.map(() => new AbortController());
      all.forEach(({ cancelAtMs }, index) => {
        if (cancelAtMs !== null) void clock.sleep(cancelAtMs).then(() => controllers[index]?.abort("cancelled"));
      });
      all.forEach(({ durationMs }, index) => {
        void outcome(clock.sleep(durationMs, controllers[index]?.signal)).then((end) => end === "fulfilled" && note(String(index)));
      });

      await clock.advance(20);

      const expected = all
        .map(({ durationMs, cancelAtMs }, index) => ({ durationMs, index, cancelled: cancelAtMs !== null && cancelAtMs <= durationMs }))
        .filter(({ cancelled }) => !cancelled)
        .sort((a, b) => a.durationMs - b.durationMs || a.index - b.index);
      deepEqual(
        log,
        expected.map(({ durationMs, index }) => `${durationMs} ${index}`),
      );
      equal(clock.sleeping, 0);
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 30, full: 500 }) },
  );
});
