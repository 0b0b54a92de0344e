import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "../host/real-clock.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { driverOf, type Driver } from "./driver.ts";

function given() {
  const clock = virtualClock();
  const driver = driverOf(clock) as Driver;
  /** Takes so many turns of work without time. */
  const turns = async (count: number): Promise<number> => {
    for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => clock.soon(resolve));
    return count;
  };
  return { clock, driver, turns };
}

test("real time has no driver, and a virtual clock has exactly one", () => {
  const { clock, driver } = given();
  equal(driverOf(clock), driver);
  equal(driverOf(realClock), undefined);
});

test("operations complete immediately and concurrently, and time does not advance", async () => {
  const { clock, driver, turns } = given();
  deepEqual(await Promise.all([driver.through(turns(3)), driver.through(turns(300)), driver.whenever(turns(30))]), [3, 300, 30]);
  equal(clock.monotonic(), 0);
});

test("an operation that needs time is rejected with a message, and a concurrent one that does not completes", async () => {
  const { clock, driver, turns } = given();
  const late = driver.through(clock.sleep(1));
  const soon = driver.through(turns(5));

  await rejects(late, /^Error: This waits for virtual time to pass/);
  equal(await soon, 5);
});

test("an operation that needs time completes if another caller advances it", async () => {
  const { clock, driver } = given();
  const late = driver.through(clock.sleep(1_000).then(() => "late"));
  await driver.advance(1_000);
  equal(await late, "late");
});

test("a caller that can wait is not rejected, blocks no other, and completes when time has passed", async () => {
  const { clock, driver, turns } = given();
  let isThrough = false;
  const waiting = driver.whenever(clock.sleep(60_000)).then(() => (isThrough = true));
  equal(await driver.through(turns(5)), 5);
  equal(isThrough, false);

  await driver.advance(60_000);
  equal(await waiting, true);
});

test("the error of an operation is passed on", async () => {
  const { driver, turns } = given();
  await rejects(driver.through(turns(2).then(() => Promise.reject(new Error("mine")))), /^Error: mine$/);
});

test("time advances for all concurrent waiters together, and each completes at its own instant", async () => {
  const { clock, driver } = given();
  const at = async (waiting: Promise<unknown>) => waiting.then(() => clock.monotonic());
  const isFive = () => clock.monotonic() >= 5;
  const all = [driver.advance(7), driver.settle(), driver.advance(5), driver.advanceUntil(isFive, 100), driver.advance(7)];
  deepEqual(await Promise.all(all.map(at)), [7, 0, 5, 5, 7]);
  equal(clock.monotonic(), 7);
});

test("a condition that is true only for a while is observed, whichever caller advances the clock, also a later one with a nearer deadline", async () => {
  const { clock, driver } = given();
  let isOpen = false;
  const blink = async () => {
    await clock.sleep(10);
    isOpen = true;
    await clock.sleep(10);
    isOpen = false;
  };
  const first = driver.advanceUntil(() => clock.monotonic() >= 60, 60);
  const later = clock.sleep(5).then(() => Promise.all([driver.advanceUntil(() => isOpen, 100), driver.advanceUntil(() => false, 3)]));
  void blink();
  const seenAt = later.then((seen) => [...seen, clock.monotonic()]);
  const hour = driver.advance(3_600_000);
  deepEqual(await seenAt, [true, false, 10]);
  equal(await first, true);
  await hour;
  equal(clock.monotonic(), 3_600_000);
});

test("everything due exactly at the deadline counts", async () => {
  const { clock, driver } = given();
  let done = 0;
  for (let index = 0; index < 3; index++) void clock.sleep(10).then(() => done++);
  equal(await driver.advanceUntil(() => done === 3, 10), true);
  equal(clock.monotonic(), 10);
});

test("a condition that throws does not affect the others", async () => {
  const { clock, driver } = given();
  const failing = driver.advanceUntil(() => {
    throw new Error("mine");
  }, 5);
  const other = driver.advance(10);
  await rejects(failing, /^Error: mine$/);
  await other;
  equal(clock.monotonic(), 10);
});

test("an operation is not rejected while others advance time, not even repeatedly", async () => {
  const { clock, driver, turns } = given();
  const late = driver.through(clock.sleep(5_000).then(() => "late"));
  await driver.settle();
  await driver.through(turns(3));
  for (let second = 0; second < 5; second++) await driver.advance(1_000);
  equal(await late, "late");
});

test("work that throws rejects the caller that advances time, and the next one can continue", async () => {
  const { clock, driver } = given();
  clock.soon(() => {
    throw new Error("mine");
  });
  await rejects(driver.advance(5), /^Error: mine$/);
  await driver.advance(5);
  equal(clock.monotonic(), 5);
});

test("a condition is evaluated until its exact deadline", async () => {
  const { clock, driver } = given();
  equal(await driver.advanceUntil(() => false, 1_234), false);
  equal(clock.monotonic(), 1_234);
  await rejects(
    driver.advanceUntil(() => {
      throw new Error("mine");
    }, 5),
    /^Error: mine$/,
  );
  equal(await driver.advanceUntil(() => true, 5), true);
  equal(clock.monotonic(), 1_234);
});

test("closing may take time, but has a limit", async () => {
  const { clock, driver, turns } = given();
  await driver.toTheEnd(turns(2), 60_000);
  equal(clock.monotonic(), 0);
  await driver.toTheEnd(clock.sleep(40), 60_000);
  equal(clock.monotonic(), 40);
  await rejects(driver.toTheEnd(new Promise(() => undefined), 60), /^Error: Timed out: 60 ms of virtual time have passed/);
});
