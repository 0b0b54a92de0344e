import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { aborted, eitherOf, onAbort } from "./abort.ts";
import { countedSignal } from "./testing/counted-signal.ts";

test("all waiters of a signal are called once, in the order in which they came", () => {
  const { controller, signal, listenerCount } = countedSignal();
  const called: string[] = [];
  const call = (name: string) => () => void called.push(name);
  onAbort(signal, call("first"));
  onAbort(signal, call("second"));
  const stop = onAbort(signal, call("gone"));
  onAbort(signal, call("third"));
  stop();
  equal(listenerCount(), 1, "however many wait, the signal has one listener");

  controller.abort();
  controller.abort();

  deepEqual(called, ["first", "second", "third"]);
});

test("a callback that is given twice is called twice, and each can leave on its own", () => {
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

test("those who stay are called when another has left", () => {
  const { controller, signal } = countedSignal();
  let called = false;
  onAbort(signal, () => void (called = true));
  onAbort(signal, () => {})();

  controller.abort();

  equal(called, true);
});

test("the last waiter to leave takes the listener away, and the next one brings it back", () => {
  const { controller, signal, listenerCount } = countedSignal();
  const stops = [onAbort(signal, () => {}), onAbort(signal, () => {})];
  for (const stop of stops) stop();
  equal(listenerCount(), 0);

  let called = false;
  onAbort(signal, () => void (called = true));
  controller.abort();

  equal(called, true);
});

test("a waiter that another one stops during the abort is not called", () => {
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

test("waiting for a signal ends when it comes, and at once if it has", async () => {
  const { controller, signal, listenerCount } = countedSignal();
  let isOver = false;
  const waiting = aborted(signal).then(() => (isOver = true));
  await Promise.resolve();
  equal(isOver, false);

  controller.abort();
  await waiting;

  equal(isOver, true);
  await aborted(signal);
  equal(listenerCount(), 1, "who comes after the signal adds no listener");
});

test("of two signals either counts; one alone is handed on as it is", () => {
  const [a, b] = [new AbortController(), new AbortController()];
  equal(eitherOf(undefined, undefined), undefined);
  equal(eitherOf(a.signal, undefined), a.signal);
  equal(eitherOf(undefined, b.signal), b.signal);
  equal(eitherOf(a.signal, a.signal), a.signal);
  const both = eitherOf(a.signal, b.signal);

  b.abort("enough");

  deepEqual([both?.aborted, both?.reason, a.signal.aborted], [true, "enough", false]);
});
