import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "../../host/real-clock.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
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

test("real time has no driver, and one virtual clock has one however often it is asked for", () => {
  const { clock, driver } = given();
  equal(driverOf(clock), driver);
  equal(driverOf(realClock), undefined);
});

test("operations are let through at once, side by side, and time stands still", async () => {
  const { clock, driver, turns } = given();
  deepEqual(await Promise.all([driver.through(turns(3)), driver.through(turns(300)), driver.whenever(turns(30))]), [3, 300, 30]);
  equal(clock.monotonic(), 0);
});

test("what needs time is refused in words, and what does not comes through beside it", async () => {
  const { clock, driver, turns } = given();
  const late = driver.through(clock.sleep(1));
  const soon = driver.through(turns(5));

  await rejects(late, /^Error: This waits for time to pass, which it does only by advance and until/);
  equal(await soon, 5);
});

test("what needs time comes through if somebody lets it pass meanwhile", async () => {
  const { clock, driver } = given();
  const late = driver.through(clock.sleep(1_000).then(() => "late"));
  await driver.advance(1_000);
  equal(await late, "late");
});

test("whoever can wait is not refused, holds nobody up, and comes through when time has passed", async () => {
  const { clock, driver, turns } = given();
  let isThrough = false;
  const waiting = driver.whenever(clock.sleep(60_000)).then(() => (isThrough = true));
  equal(await driver.through(turns(5)), 5);
  equal(isThrough, false);

  await driver.advance(60_000);
  equal(await waiting, true);
});

test("a failure is that of the operation", async () => {
  const { driver, turns } = given();
  await rejects(driver.through(turns(2).then(() => Promise.reject(new Error("mine")))), /^Error: mine$/);
});

test("drivers take turns: time moves by the sum", async () => {
  const { clock, driver } = given();
  const isTwelve = () => clock.monotonic() >= 12;
  await Promise.all([driver.advance(5), driver.settle(), driver.advance(7), driver.advanceUntil(isTwelve, 100)]);
  equal(clock.monotonic(), 12);
});

test("a condition is looked at until its time is over, which is exact", async () => {
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

test("what is to end may take time, but not for ever", async () => {
  const { clock, driver, turns } = given();
  await driver.toTheEnd(turns(2), 60_000);
  equal(clock.monotonic(), 0);
  await driver.toTheEnd(clock.sleep(40), 60_000);
  equal(clock.monotonic(), 40);
  await rejects(driver.toTheEnd(new Promise(() => undefined), 60), /^Error: This does not end: 60 ms of virtual time have passed/);
});
