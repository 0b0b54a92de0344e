import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { Alarms } from "./alarms.ts";

function given() {
  const clock = virtualClock();
  const alarms = new Alarms(clock);
  const rang: string[] = [];
  const set = (name: string, afterMs: number) => alarms.at(clock.now() + afterMs, () => rang.push(`${name} ${clock.monotonic()}`));
  return { clock, alarms, rang, set };
}

test("alarms ring at their time, in order of registration at equal times, with one timer for all", async () => {
  const { clock, rang, set } = given();
  for (const [name, afterMs] of [
    ["late", 30],
    ["early", 10],
    ["middle", 20],
    ["middle too", 20],
    ["past", -5],
  ] as const)
    set(name, afterMs);
  equal(clock.sleeping, 1);
  deepEqual(rang, []);

  await clock.advance(100);

  deepEqual(rang, ["past 0", "early 10", "middle 20", "middle too 20", "late 30"]);
  equal(clock.sleeping, 0);
});

test("a cancelled alarm does not ring, and without alarms no timer is set", async () => {
  const { clock, alarms, rang, set } = given();
  const seats = [set("a", 10), set("b", 20)];
  alarms.cancel(seats[0]!);
  await clock.advance(15);
  alarms.cancel(seats[1]!);
  alarms.cancel(seats[1]!);
  equal(clock.sleeping, 0);
  set("c", 1);
  await clock.advance(10);
  deepEqual(rang, ["c 16"]);
});

test("an alarm may set another, even for the same instant", async () => {
  const { clock, alarms, rang, set } = given();
  alarms.at(clock.now() + 5, () => void [set("at once", 0), set("later", 7)]);
  await clock.advance(100);
  deepEqual(rang, ["at once 5", "later 12"]);
});
