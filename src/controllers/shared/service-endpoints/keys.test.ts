import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Reader } from "../../../client/informer/informer.ts";
import type { Change } from "../../runtime/controller.ts";
import { servicesOfPod } from "./keys.ts";
import { aPod, aService } from "./testing/builders.ts";
import { stub } from "../../../base/testing/stub.ts";

const SERVICES = [
  aService("web"),
  aService("other"),
  aService("all", { spec: { selector: {} } }),
  aService("front", { spec: { selector: { tier: "front" } } }),
];

function woken(change: Change<Pod>): readonly string[] {
  const read = stub<Reader>({ list: () => SERVICES });
  return [...servicesOfPod(change, read)].map(({ name }) => name);
}

const POD = aPod("a", { ips: ["10.0.0.1"] });
const HIDDEN = aPod("a");

const changes: readonly { readonly it: string; readonly change: Change<Pod>; readonly wakes: readonly string[] }[] = [
  { it: "that is added with an address", change: { is: "added", object: POD }, wakes: ["web"] },
  { it: "that has no address yet", change: { is: "added", object: HIDDEN }, wakes: [] },
  { it: "that has an address now", change: { is: "updated", object: POD, previous: HIDDEN }, wakes: ["web"] },
  { it: "that was deleted", change: { is: "deleted", object: POD }, wakes: ["web"] },
  { it: "that is no longer ready", change: updated({ ips: ["10.0.0.1"], isReady: false }), wakes: ["web"] },
  { it: "with another address", change: updated({ ips: ["10.0.0.2"] }), wakes: ["web"] },
  { it: "that has ended", change: updated({ ips: ["10.0.0.1"], phase: "Succeeded" }), wakes: ["web"] },
  { it: "that changed its Service", change: updated({ ips: ["10.0.0.1"], app: "other" }), wakes: ["web", "other"] },
  { it: "that is terminating", change: relabelled({ deletionTimestamp: "2030-01-01T00:00:00Z" }), wakes: ["web"] },
  { it: "with one more label that a Service selects", change: relabelled({ labels: { app: "web", tier: "front" } }), wakes: ["front"] },
  { it: "with one more label that no Service selects", change: relabelled({ labels: { app: "web", x: "y" } }), wakes: [] },
  { it: "with one more annotation", change: relabelled({ annotations: { x: "y" } }), wakes: [] },
];

function updated(parts: Parameters<typeof aPod>[1]): Change<Pod> {
  return { is: "updated", object: aPod("a", parts), previous: POD };
}

function relabelled(metadata: Partial<Pod["metadata"]>): Change<Pod> {
  return { is: "updated", object: { ...POD, metadata: { ...POD.metadata, ...metadata } }, previous: POD };
}

for (const { it, change, wakes } of changes) {
  test(`a Pod ${it} queues ${wakes.join(" and ") || "no Service"}`, () => deepEqual(woken(change), wakes));
}
