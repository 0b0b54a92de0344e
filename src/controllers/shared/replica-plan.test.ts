import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Pod } from "../../api/generated/core/v1.ts";
import { planReplicas, podsPerNode } from "./replica-plan.ts";
import { buildPod } from "../../api/testing/pod.ts";

function somePods(count: number, nodeName = "n1"): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => aPod(`p${index}`, nodeName));
}

function aPod(name: string, nodeName: string): Pod {
  return buildPod({ metadata: { name, uid: name }, spec: { nodeName } });
}

for (const { wanted, there, plan } of [
  { wanted: 0, there: 0, plan: "nothing" },
  { wanted: 3, there: 3, plan: "nothing" },
  { wanted: 3, there: 1, plan: "create 2" },
  { wanted: 501, there: 0, plan: "create 500" },
  { wanted: 1, there: 3, plan: "delete p0,p1" },
  { wanted: 0, there: 2, plan: "delete p0,p1" },
]) {
  test(`a set of ${wanted} that has ${there} will ${plan}`, () => {
    const planned = planReplicas(wanted, somePods(there), { nowMs: 0 });

    const reported =
      planned.does === "create" ? ` ${planned.count}` : planned.does === "delete" ? ` ${namesOf(planned.pods).join(",")}` : "";
    deepEqual(`${planned.does}${reported}`, plan);
  });
}

test("one reconciliation deletes at most 500 Pods", () => {
  const planned = planReplicas(1, somePods(700), { nowMs: 0 });

  deepEqual(planned.does === "delete" && planned.pods.length, 500);
});

test("unscheduled Pods are deleted first", () => {
  const planned = planReplicas(1, [aPod("placed", "n1"), aPod("waiting", "")], { nowMs: 0 });

  deepEqual(planned, { does: "delete", pods: [aPod("waiting", "")] });
});

test("Pods are counted by node", () => {
  deepEqual(
    [...podsPerNode([...somePods(2), aPod("other", "n2"), aPod("waiting", "")])],
    [
      ["n1", 2],
      ["n2", 1],
      ["", 1],
    ],
  );
});

function namesOf(pods: readonly Pod[]): readonly string[] {
  return pods.map(({ metadata }) => metadata.name);
}
