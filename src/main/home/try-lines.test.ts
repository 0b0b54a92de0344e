import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { tryLines } from "./try-lines.ts";

for (const [podsAre, expected] of [
  [
    "containers",
    [
      "  kubectl create deployment web --image=busybox --replicas=3 -- sleep 1d",
      "  # that pulls the image from the internet; without: k8ts image load --name b FILE, where FILE is of docker save busybox",
    ],
  ],
  ["simulated", ["  kubectl create deployment web --image=any --replicas=3  # no image is needed: Pods are simulated"]],
  ["nothing", ["  kubectl create deployment web --image=busybox --replicas=3  # Pods wait until a node joins: k8ts kubelet --help"]],
] as const) {
  test(`where Pods are ${podsAre}, what is proposed says what it needs`, () => {
    const lines = tryLines({ podsAre, commandArguments: " --name b" });
    equal(lines[0], "Try:");
    deepEqual(lines.slice(2, -2), expected);
  });
}
