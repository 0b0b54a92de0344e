import { equal } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { CpuRate } from "./cpu-rate.ts";

test("CpuRate measures a short interval first, then the interval since the last call, and a short one again after a long pause", async () => {
  const clock = virtualClock();
  let nanoseconds = 0;
  let looks = 0;
  const rate = new CpuRate(clock, async () => {
    looks++;
    return nanoseconds;
  });
  const asked = async (duringMs: number, used: number): Promise<number> => {
    const answer = rate.nanocores();
    await clock.settle();
    nanoseconds += used;
    await clock.advance(duringMs);
    return answer;
  };

  equal(await asked(200, 0.1e9), 500_000_000);
  equal(await asked(0, 5e9), 500_000_000);
  await clock.advance(10_000);
  equal(await asked(0, 0), 500_000_000);
  await clock.advance(3_600_000);
  nanoseconds += 3_600e9;
  equal(await asked(200, 0.4e9), 2_000_000_000);
  equal(looks, 5);
});
