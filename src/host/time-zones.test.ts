import { equal } from "node:assert/strict";
import { test } from "node:test";
import { machineTimeZone } from "./time-zones.ts";

const OFFSETS: readonly [zone: string, time: string, minutes: number][] = [
  ["UTC", "2026-07-01T00:00:00Z", 0],
  ["Europe/Berlin", "2026-03-29T00:59:59Z", 60],
  ["Europe/Berlin", "2026-03-29T01:00:00Z", 120],
  ["Europe/Berlin", "2026-10-25T01:00:00Z", 60],
  ["America/New_York", "2026-01-01T00:00:00Z", -300],
  ["Asia/Kolkata", "2026-01-01T00:00:00Z", 330],
  ["America/St_Johns", "2026-07-01T00:00:00Z", -150],
];

for (const [zone, time, minutes] of OFFSETS) {
  test(`the offset of ${zone} at ${time} is ${minutes} minutes`, () => {
    equal(machineTimeZone(zone)?.offsetMsAt(Date.parse(time)), minutes * 60_000);
  });
}

test("an unknown time zone is undefined, and the process has one", () => {
  equal(machineTimeZone("Mars/Olympus_Mons"), undefined);
  equal(typeof machineTimeZone("")?.offsetMsAt(0), "number");
});
