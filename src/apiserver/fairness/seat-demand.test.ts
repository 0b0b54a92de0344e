import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { SeatDemand, smoothedDemand } from "./seat-demand.ts";

test("average and deviation of seat demand are time-weighted, and the high watermark is per period", () => {
  const demand = new SeatDemand(0);
  demand.set(10, 0);
  demand.set(0, 5_000);
  demand.endPeriod(10_000);
  deepEqual(demand.statistics, { average: 5, deviation: 5, highWatermark: 10, smoothed: 10 });
  demand.endPeriod(20_000);
  deepEqual([demand.statistics.average, demand.statistics.highWatermark], [0, 0]);
  equal(demand.statistics.smoothed, 9.77);
});

test("the smoothed seat demand rises immediately and has a half-life of 5 minutes", () => {
  equal(smoothedDemand(5, 100), 100);
  let smoothed = 100;
  for (let period = 0; period < 30; period++) smoothed = smoothedDemand(smoothed, 0);
  ok(Math.abs(smoothed - 50) < 1, String(smoothed));
});

test("ending many unchanged periods at once equals ending each of them", () => {
  const [one, all] = [new SeatDemand(0), new SeatDemand(0)];
  for (const demand of [one, all]) {
    demand.set(80, 1_000);
    demand.set(3, 4_000);
    demand.endPeriod(10_000);
  }
  for (let period = 2; period <= 50; period++) one.endPeriod(period * 10_000);
  all.endUnchangedPeriods(49, 500_000);
  const rounded = ({ statistics }: SeatDemand) => Object.values(statistics).map((value: number) => value.toFixed(6));
  deepEqual(rounded(all), rounded(one));
});
