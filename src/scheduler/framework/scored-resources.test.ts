import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Resources } from "./resources.ts";
import { resourceAmount, scoredResources } from "./scored-resources.ts";

test("without any that are named, CPU and memory are scored alike", () => {
  const expected = [
    { name: "cpu", weight: 1, isScalar: false },
    { name: "memory", weight: 1, isScalar: false },
  ];
  deepEqual(scoredResources(), expected);
  deepEqual(scoredResources([]), expected);
});

test("a weight that is absent or 0 is 1, and devices and huge pages are what only some nodes have", () => {
  deepEqual(
    scoredResources([{ name: "example.com/gpu", weight: 3 }, { name: "hugepages-2Mi", weight: 0 }, { name: "ephemeral-storage" }]),
    [
      { name: "example.com/gpu", weight: 3, isScalar: true },
      { name: "hugepages-2Mi", weight: 1, isScalar: true },
      { name: "ephemeral-storage", weight: 1, isScalar: false },
    ],
  );
});

test("amounts are found by the names of the API, and what is absent is 0", () => {
  const resources: Resources = { milliCpu: 1, memoryBytes: 2, ephemeralStorageBytes: 3, scalars: new Map([["example.com/gpu", 4]]) };
  const names = ["cpu", "memory", "ephemeral-storage", "example.com/gpu", "example.com/other"];
  deepEqual(
    names.map((name) => resourceAmount(resources, name)),
    [1, 2, 3, 4, 0],
  );
});
