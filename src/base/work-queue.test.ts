import fc from "fast-check";
import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { perKeyExponential } from "./rate-limiter.ts";
import { countedSignal } from "./testing/counted-signal.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { WorkQueue } from "./work-queue.ts";

const macrotask = () => new Promise<void>((resolve) => void setImmediate(resolve));

function aQueue() {
  const clock = new VirtualClock({ macrotask });
  const queue = new WorkQueue<string>({ clock, rateLimiter: perKeyExponential({ minMs: 10, maxMs: 1_000 }) });
  return { clock, queue };
}

/** Takes and completes every queued key. */
async function drain(queue: WorkQueue<string>): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    const key = (await queue.take()) as string;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

// ── add, take, done ─────────────────────────────────────────────────────────────────────────────────

test("keys are handed out in the order of their first add, each once", async () => {
  const { queue } = aQueue();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);

  equal(queue.length, 3);
  deepEqual(await drain(queue), ["a", "b", "c"]);
});

test("a key added while a worker holds it is handed out again, only after done", async () => {
  const { queue } = aQueue();
  queue.add("a");
  await queue.take();
  queue.add("a");
  queue.add("a");
  deepEqual([queue.length, queue.inProgress], [0, 1]);

  queue.done("a");

  deepEqual(await drain(queue), ["a"]);
});

test("a key that is done and was not added again leaves the queue", async () => {
  const { queue } = aQueue();
  queue.add("a");
  queue.done((await queue.take()) as string);
  deepEqual([queue.length, queue.inProgress], [0, 0]);
});

test("waiting workers receive keys in the order of their take", async () => {
  const { queue } = aQueue();
  const first = queue.take();
  const second = queue.take();
  queue.add("a");
  queue.add("b");

  deepEqual([await first, await second], ["a", "b"]);
});

test("a re-added key goes to a waiting worker as soon as it is done", async () => {
  const { queue } = aQueue();
  queue.add("a");
  await queue.take();
  const waiting = queue.take();
  queue.add("a");
  queue.done("a");
  equal(await waiting, "a");
});

test("done of a key that no worker holds fails an assertion", () => {
  const { queue } = aQueue();
  throws(() => queue.done("a"), { name: "AssertionFailed", message: "a key that is done was taken" });
});

// ── waiting and cancellation ────────────────────────────────────────────────────────────────────────

test("an aborted take rejects with the reason and loses no key", async () => {
  const { queue } = aQueue();
  const controller = new AbortController();
  const aborted = queue.take(controller.signal);
  const waiting = queue.take();
  controller.abort("enough");
  queue.add("a");

  await rejects(aborted, (reason) => reason === "enough");
  equal(await waiting, "a");
  queue.add("b");
  await rejects(queue.take(controller.signal), (reason) => reason === "enough");
  equal(queue.length, 1, "the key stays for the next worker");
});

test("a signal that aborts after the key was handed out has no effect and no listener", async () => {
  const { queue } = aQueue();
  const { controller, signal, listenerCount } = countedSignal();
  const taking = queue.take(signal);
  equal(listenerCount(), 1);
  queue.add("a");
  equal(listenerCount(), 0);
  controller.abort();

  equal(await taking, "a");
  queue.done("a");
});

test("a shut-down queue hands out its remaining keys, then undefined, and ignores further adds", async () => {
  const { clock, queue } = aQueue();
  queue.add("a");
  queue.addAfter("later", 5);
  queue.shutDown();
  queue.add("b");
  queue.addAfter("b", 5);
  queue.addAfter("b", 0);
  queue.addRateLimited("b");
  deepEqual([queue.delayed, queue.retries("b"), clock.sleeping], [0, 0, 0]);
  await clock.advance(1_000);

  deepEqual([await queue.take(), await queue.take()], ["a", undefined]);
});

test("a key re-added before the shutdown is still handed out", async () => {
  const { queue } = aQueue();
  queue.add("a");
  await queue.take();
  queue.add("a");
  queue.shutDown();
  equal(await queue.take(), undefined, "the queue is still empty");

  queue.done("a");

  deepEqual([await queue.take(), await queue.take()], ["a", undefined]);
});

test("shutdown releases waiting workers", async () => {
  const { queue } = aQueue();
  const waiting = [queue.take(), queue.take(new AbortController().signal)];
  queue.shutDown();
  deepEqual(await Promise.all(waiting), [undefined, undefined]);
});

// ── delays ──────────────────────────────────────────────────────────────────────────────────────────

test("addAfter hands out a key after its delay", async () => {
  const { clock, queue } = aQueue();
  queue.addAfter("a", 50);
  queue.addAfter("next", 1);
  queue.addAfter("at once", 0);
  deepEqual([queue.length, queue.delayed], [1, 2]);
  await clock.advance(49);
  deepEqual([queue.length, queue.delayed], [2, 1]);

  await clock.advance(1);

  deepEqual([queue.length, queue.delayed], [3, 0]);
});

for (const { it, delaysMs } of [
  { it: "an earlier delay replaces a later one", delaysMs: [100, 50] },
  { it: "a later delay does not replace an earlier one", delaysMs: [50, 100] },
]) {
  test(it, async () => {
    const { clock, queue } = aQueue();
    for (const delayMs of delaysMs) queue.addAfter("a", delayMs);
    await clock.advance(50);
    deepEqual(await drain(queue), ["a"]);
    await clock.advance(1_000);
    deepEqual(await drain(queue), [], "it comes once");
  });
}

test("a delayed key that is added meanwhile is handed out now and after its delay", async () => {
  const { clock, queue } = aQueue();
  queue.addAfter("a", 50);
  queue.add("a");
  deepEqual(await drain(queue), ["a"]);
  await clock.advance(50);
  deepEqual(await drain(queue), ["a"]);
});

test("addRateLimited delays a failing key longer each time, until forget", async () => {
  const { clock, queue } = aQueue();
  const cameAtMs: number[] = [];
  const working = (async () => {
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      cameAtMs.push(clock.monotonic());
      if (queue.retries(key) === 4) queue.forget(key);
      else queue.addRateLimited(key);
      queue.done(key);
    }
  })();
  queue.add("a");

  await clock.advance(10_000);

  deepEqual(cameAtMs, [0, 10, 30, 70, 150]);
  equal(queue.retries("a"), 0);
  queue.shutDown();
  await working;
});

test("the default rate limiter is upstream's", async () => {
  const clock = new VirtualClock({ macrotask });
  const queue = new WorkQueue<string>({ clock });
  queue.addRateLimited("a");
  await clock.advance(4);
  equal(queue.length, 0);
  await clock.advance(1);
  equal(queue.length, 1);
});

// ── property ────────────────────────────────────────────────────────────────────────────────────────

test("no key is held by two workers, and each is processed after its last add, under any interleaving", async () => {
  const key = fc.constantFrom("a", "b", "c");
  const step = fc.oneof(
    fc.record({ add: key }),
    fc.record({ addAfter: key, delayMs: fc.integer({ min: -1, max: 30 }) }),
    fc.record({ advanceMs: fc.integer({ min: 0, max: 15 }) }),
  );
  const scenario = fc.record({
    steps: fc.array(step, { maxLength: 40 }),
    workers: fc.integer({ min: 1, max: 3 }),
    workMs: fc.integer({ min: 0, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, workers, workMs }) => {
      const { clock, queue } = aQueue();
      const busy = new Set<string>();
      const lookedAt = new Map<string, number>();
      const addedAt = new Map<string, number>();
      let tick = 0; // Increases with every add and every take, so that "after" is exact.
      const work = async () => {
        for (let taken = await queue.take(); taken !== undefined; taken = await queue.take()) {
          equal(busy.has(taken), false, "a key is with one worker");
          busy.add(taken);
          lookedAt.set(taken, tick++);
          await clock.sleep(workMs);
          busy.delete(taken);
          queue.done(taken);
        }
      };
      const working = Promise.all(Array.from({ length: workers }, work));
      for (const one of steps) {
        if ("advanceMs" in one) await clock.advance(one.advanceMs);
        else {
          addedAt.set("add" in one ? one.add : one.addAfter, tick++);
          if ("add" in one) queue.add(one.add);
          else queue.addAfter(one.addAfter, one.delayMs);
        }
      }

      await clock.advance(10_000);
      queue.shutDown();
      await working;

      deepEqual([queue.length, queue.delayed, queue.inProgress], [0, 0, 0]);
      for (const [added, at] of addedAt) equal((lookedAt.get(added) ?? -1) > at, true, `${added} was looked at after it was added`);
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 30, full: 1_000 }) },
  );
});
