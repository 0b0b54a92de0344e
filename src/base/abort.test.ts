import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { aborted, anySignal, Cancellation, onAbort, signalOf } from "./abort.ts";
import { countedSignal } from "./testing/counted-signal.ts";

test("onAbort calls all callbacks of a signal once, in registration order", () => {
  const { controller, signal, listenerCount } = countedSignal();
  const called: string[] = [];
  const call = (name: string) => () => void called.push(name);
  onAbort(signal, call("first"));
  onAbort(signal, call("second"));
  const stop = onAbort(signal, call("gone"));
  onAbort(signal, call("third"));
  stop();
  equal(listenerCount(), 1, "the signal has one listener, however many wait");

  controller.abort();
  controller.abort();

  deepEqual(called, ["first", "second", "third"]);
});

test("onAbort registers the same callback twice as two independent waiters", () => {
  const { controller, signal } = countedSignal();
  let calls = 0;
  const callback = () => void calls++;
  onAbort(signal, callback);
  const stop = onAbort(signal, callback);
  onAbort(signal, callback);

  stop();
  stop();
  controller.abort();

  equal(calls, 2);
});

test("the remaining callbacks are called after one has unsubscribed", () => {
  const { controller, signal } = countedSignal();
  let called = false;
  onAbort(signal, () => void (called = true));
  onAbort(signal, () => {})();

  controller.abort();

  equal(called, true);
});

test("the abort listener is removed with the last waiter and added again with the next one", () => {
  const { controller, signal, listenerCount } = countedSignal();
  const stops = [onAbort(signal, () => {}), onAbort(signal, () => {})];
  for (const stop of stops) stop();
  equal(listenerCount(), 0);

  let called = false;
  onAbort(signal, () => void (called = true));
  controller.abort();

  equal(called, true);
});

test("a callback that another callback unsubscribes during the abort is not called", () => {
  const { controller, signal } = countedSignal();
  const called: string[] = [];
  const stops: (() => void)[] = [];
  onAbort(signal, () => {
    called.push("first");
    for (const stop of stops) stop();
  });
  stops.push(onAbort(signal, () => void called.push("second")));

  controller.abort();

  deepEqual(called, ["first"]);
});

test("waiting for a signal resolves when it aborts, and immediately if it is already aborted", async () => {
  const { controller, signal, listenerCount } = countedSignal();
  let isOver = false;
  const waiting = aborted(signal).then(() => (isOver = true));
  await Promise.resolve();
  equal(isOver, false);

  controller.abort();
  await waiting;

  equal(isOver, true);
  await aborted(signal);
  equal(listenerCount(), 1, "waiting on an aborted signal adds no listener");
});

test("the combination of two signals aborts with either; a single signal is returned unchanged", () => {
  const [a, b] = [new AbortController(), new AbortController()];
  equal(anySignal(undefined, undefined), undefined);
  equal(anySignal(a.signal, undefined), a.signal);
  equal(anySignal(undefined, b.signal), b.signal);
  equal(anySignal(a.signal, a.signal), a.signal);
  const both = anySignal(a.signal, b.signal);

  b.abort("enough");

  deepEqual([both?.aborted, both?.reason, a.signal.aborted], [true, "enough", false]);
});

test("a Cancellation calls its waiters once with the first reason, and throws it from then on", () => {
  const cancellation = new Cancellation();
  const called: string[] = [];
  cancellation.throwIfAborted();
  onAbort(cancellation, () => void called.push(`first: ${String(cancellation.reason)}`));
  const stop = onAbort(cancellation, () => void called.push("gone"));
  onAbort(cancellation, () => void called.push("second"));
  stop();
  stop();

  cancellation.abort("enough");
  cancellation.abort("again");

  deepEqual(called, ["first: enough", "second"]);
  deepEqual([cancellation.aborted, cancellation.reason], [true, "enough"]);
  throws(
    () => cancellation.throwIfAborted(),
    (reason) => reason === "enough",
  );
});

test("the AbortSignal of a Cancellation aborts with it, whether it was created before or after", () => {
  const cancellation = new Cancellation();
  const before = signalOf(cancellation);
  let calls = 0;
  before.addEventListener("abort", () => calls++);
  equal(before.aborted, false);

  cancellation.abort("enough");

  deepEqual([before.aborted, before.reason, calls], [true, "enough", 1]);
  equal(signalOf(cancellation), before);
  const late = new Cancellation();
  late.abort("too late");
  deepEqual([signalOf(late).aborted, signalOf(late).reason], [true, "too late"]);
  const { signal } = new AbortController();
  equal(signalOf(signal), signal);
});
