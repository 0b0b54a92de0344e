import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ReplicationController, Service } from "../../../api/generated/core/v1.ts";
import type { ReplicaSet, StatefulSet } from "../../../api/generated/apps/v1.ts";
import type { OwnerReference } from "../../../api/machinery/object.ts";
import { aPod } from "../../framework/testing/builders.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { defaultConstraints, SYSTEM_CONSTRAINTS } from "./default-constraints.ts";

const metadata = { name: "web", namespace: "default" };
const template = { spec: { containers: [] } };
const labels = { app: "web", tier: "front", rev: "2" };

function service(selector?: Record<string, string>): Service {
  return { apiVersion: "v1", kind: "Service", metadata, spec: selector === undefined ? {} : { selector } };
}

const replicaSet: ReplicaSet = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata,
  spec: { selector: { matchLabels: { rev: "2" } }, template },
};
const statefulSet: StatefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata,
  spec: { serviceName: "web", selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web", "db"] }] }, template },
};
const controller: ReplicationController = { apiVersion: "v1", kind: "ReplicationController", metadata, spec: { selector: { rev: "2" } } };

function ownedBy(apiVersion: string, kind: string, more: Partial<OwnerReference> = {}): readonly OwnerReference[] {
  return [{ apiVersion, kind, name: "web", uid: "u", controller: true, ...more }];
}

for (const { when, services = [], owner = [], expected } of [
  { when: "nothing selects or owns it", expected: undefined },
  { when: "a Service selects it", services: [service({ app: "web" })], expected: "app=web" },
  { when: "two Services select it", services: [service({ app: "web" }), service({ tier: "front" })], expected: "app=web,tier=front" },
  { when: "a Service selects others", services: [service({ app: "db" })], expected: undefined },
  { when: "a Service has no selector", services: [service()], expected: undefined },
  { when: "a ReplicaSet owns it", owner: ownedBy("apps/v1", "ReplicaSet"), expected: "rev=2" },
  { when: "a StatefulSet owns it", owner: ownedBy("apps/v1", "StatefulSet"), expected: "app in (db,web)" },
  { when: "a ReplicationController owns it", owner: ownedBy("v1", "ReplicationController"), expected: "rev=2" },
  {
    when: "a Service selects it and a ReplicaSet owns it",
    services: [service({ app: "web" })],
    owner: ownedBy("apps/v1", "ReplicaSet"),
    expected: "app=web,rev=2",
  },
  { when: "a missing ReplicaSet owns it", owner: ownedBy("apps/v1", "ReplicaSet", { name: "gone" }), expected: undefined },
  {
    when: "a ReplicaSet owns it without controlling it",
    owner: ownedBy("apps/v1", "ReplicaSet", { controller: false }),
    expected: undefined,
  },
  { when: "an object of another kind owns it", owner: ownedBy("batch/v1", "Job"), expected: undefined },
]) {
  test(`by default a Pod is spread with ${expected ?? "no other"} when ${when}`, () => {
    const cluster = aClusterView({
      services: () => services,
      replicaSets: () => [replicaSet],
      statefulSets: () => [statefulSet],
      replicationControllers: () => [controller],
    });

    const found = defaultConstraints(aPod("p", { labels, ownerReferences: owner }), "ScheduleAnyway", SYSTEM_CONSTRAINTS, cluster);

    const expectedTexts =
      expected === undefined ? [] : [`kubernetes.io/hostname 3 ${expected}`, `topology.kubernetes.io/zone 5 ${expected}`];
    deepEqual(
      found.map(({ topologyKey, maxSkew, selector }) => `${topologyKey} ${maxSkew} ${selector.toString()}`),
      expectedTexts,
    );
  });
}
