import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Resources } from "./resources.ts";
import { resourceAmount, scoredResources } from "./scored-resources.ts";

test("by default CPU and memory are scored equally", () => {
  const expected = [
    { name: "cpu", weight: 1, isScalar: false },
    { name: "memory", weight: 1, isScalar: false },
  ];
  deepEqual(scoredResources(), expected);
  deepEqual(scoredResources([]), expected);
});

test("a missing or zero weight is 1, and devices and huge pages exist on some nodes only", () => {
  deepEqual(
    scoredResources([{ name: "example.com/gpu", weight: 3 }, { name: "hugepages-2Mi", weight: 0 }, { name: "ephemeral-storage" }]),
    [
      { name: "example.com/gpu", weight: 3, isScalar: true },
      { name: "hugepages-2Mi", weight: 1, isScalar: true },
      { name: "ephemeral-storage", weight: 1, isScalar: false },
    ],
  );
});

test("amounts are found by API names, and missing ones are 0", () => {
  const resources: Resources = { milliCpu: 1, memoryBytes: 2, ephemeralStorageBytes: 3, scalars: new Map([["example.com/gpu", 4]]) };
  const names = ["cpu", "memory", "ephemeral-storage", "example.com/gpu", "example.com/other"];
  deepEqual(
    names.map((name) => resourceAmount(resources, name)),
    [1, 2, 3, 4, 0],
  );
});
