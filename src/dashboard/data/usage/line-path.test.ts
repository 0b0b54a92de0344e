import { equal } from "node:assert/strict";
import { test } from "node:test";
import { linePath } from "./line-path.ts";

const box = { width: 100, height: 50, max: 10 };
const sample = (atMs: number, cpu: number) => ({ atMs, cpu, memory: 0 });
const path = (...samples: readonly (readonly [number, number])[]) =>
  linePath(
    samples.map(([atMs, cpu]) => sample(atMs, cpu)),
    ({ cpu }) => cpu,
    box,
    1_000,
  )?.line;

test("a chart's line ends at the right edge with the newest sample, and older ones are left of it", () => {
  equal(path([0, 0], [500, 5], [1_000, 10]), "M0,50 L50,25 L100,0");
});

test("a chart leaves out samples before its time, and cuts values above its top", () => {
  equal(path([0, 1], [2_000, 5], [2_500, 20]), "M50,25 L100,0");
});

test("a chart of one sample is a level line, and of none is empty", () => {
  equal(path([7, 5]), "M0,25 L100,25");
  equal(path(), undefined);
});

test("the area of a chart is what is below its line", () => {
  equal(linePath([sample(0, 0), sample(500, 10)], ({ cpu }) => cpu, box, 1_000)?.area, "M50,50 L100,0 L100,50 L50,50 Z");
});
