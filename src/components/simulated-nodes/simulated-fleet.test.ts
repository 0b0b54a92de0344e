import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { prefixLengthMax, simulatedFleet } from "./simulated-fleet.ts";

test("nodes on an embedded store are numbered, and those on etcd are named after their machine and cluster", () => {
  const base = { count: 2, nodeName: "m", clusterName: "one" };
  deepEqual(simulatedFleet({ ...base, driver: "memory" }), { count: 2, namePrefix: "node-" });
  deepEqual(simulatedFleet({ ...base, driver: "embedded" }), { count: 2, namePrefix: "node-" });

  const { members = [] } = simulatedFleet({ ...base, driver: "etcd" });
  deepEqual(
    members.map(({ name }) => name),
    ["m-one-0", "m-one-1"],
  );
  deepEqual(simulatedFleet({ ...base, driver: "etcd" }).members, members, "the next start has the same ones");
});

test("neither names nor numbers of two clusters on one machine, or of two machines, collide", () => {
  const others = [
    { nodeName: "m", clusterName: "one" },
    { nodeName: "m", clusterName: "two" },
    { nodeName: "n", clusterName: "one" },
    { nodeName: "n", clusterName: "default" },
  ];
  const all = others.flatMap((each) => simulatedFleet({ ...each, count: 10, driver: "etcd" }).members ?? []);
  equal(new Set(all.map(({ name }) => name)).size, 40);
  equal(new Set(all.map(({ index }) => index)).size, 40);
});

test("a prefix leaves enough characters for the highest number in a label", () => {
  for (const [count, max] of [
    [1, 62],
    [10, 62],
    [11, 61],
    [100, 61],
    [20_000, 58],
  ] as const)
    equal(prefixLengthMax(count), max, `${count} nodes`);
});
