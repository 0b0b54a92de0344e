import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { planNodes } from "./node-plan.ts";
import { maySurge } from "./rolling-update.ts";
import { aDaemonPod, aDaemonSet, aNode, seenBy, someNodes, type DaemonFacts } from "./testing/daemons.ts";

function planned(facts: DaemonFacts, nodes: readonly Node[], pods: readonly Pod[], delayMs = 0) {
  const daemonSet = aDaemonSet(facts);
  return planNodes(seenBy(daemonSet, nodes, pods), { maySurge: maySurge(daemonSet), failedDelay: () => delayMs });
}

const SURGE: DaemonFacts = { maxSurge: 1 };
const [N1, N2] = [aNode("n1"), aNode("n2")];
const TAINTED = aNode("n1", { taints: [{ key: "x", effect: "NoSchedule" }] });
const EVICTED = aNode("n1", { taints: [{ key: "x", effect: "NoExecute" }] });
const [OLD, NEW] = [aDaemonPod("n1", { name: "old", revision: "old" }), aDaemonPod("n1", { name: "new" })];

const CASES: readonly (readonly [
  title: string,
  facts: DaemonFacts,
  nodes: readonly Node[],
  pods: readonly Pod[],
  plan: { readonly create?: readonly string[]; readonly delete?: readonly string[] },
])[] = [
  ["nodes without a Pod get one", {}, [N1, N2], [aDaemonPod("n1")], { create: ["n2"] }],
  ["a Pod that waits for its node counts", {}, [N1], [aDaemonPod("n1", { isUnbound: true, phase: "Pending" })], {}],
  ["a node with a terminating Pod gets no other", {}, [N1], [aDaemonPod("n1", { isTerminating: true })], {}],
  [
    "a terminating Pod that has ended does not count",
    {},
    [N1],
    [aDaemonPod("n1", { isTerminating: true, phase: "Failed" })],
    { create: ["n1"] },
  ],
  ["nodes that do not match lose their Pod", { pod: { nodeSelector: { a: "b" } } }, [N1], [aDaemonPod("n1")], { delete: ["on-n1"] }],
  ["a node with a NoSchedule taint keeps its Pod", {}, [TAINTED], [aDaemonPod("n1")], {}],
  ["a node with a NoSchedule taint gets no Pod", {}, [TAINTED], [], {}],
  ["a node with a NoExecute taint loses its Pod", {}, [EVICTED], [aDaemonPod("n1")], { delete: ["on-n1"] }],
  ["a Pod that ended is deleted", {}, [N1], [aDaemonPod("n1", { phase: "Succeeded" })], { delete: ["on-n1"] }],
  [
    "of two Pods on a node the younger one is deleted",
    {},
    [N1],
    [aDaemonPod("n1", { name: "b", bornAt: 5 }), aDaemonPod("n1", { name: "a" })],
    { delete: ["b"] },
  ],
  ["an unbound Pod of a node that is gone is deleted", {}, [], [aDaemonPod("n1", { isUnbound: true })], { delete: ["on-n1"] }],
  ["a bound Pod of a node that is gone is left to the garbage collector of Pods", {}, [], [aDaemonPod("n1")], {}],
  ["with surge an old and a new Pod may share a node", SURGE, [N1], [OLD, aDaemonPod("n1", { name: "new", isReady: false })], {}],
  ["with surge the old Pod is deleted when the new one is available", SURGE, [N1], [OLD, NEW], { delete: ["old"] }],
  [
    "with surge an old Pod that is not ready is deleted",
    SURGE,
    [N1],
    [aDaemonPod("n1", { name: "old", revision: "old", isReady: false }), aDaemonPod("n1", { name: "new", isReady: false })],
    { delete: ["old"] },
  ],
  ["with surge the old Pod stays until the new one is ready for long enough", { ...SURGE, minReadySeconds: 60 }, [N1], [OLD, NEW], {}],
  [
    "with surge only one old and one new Pod stay",
    SURGE,
    [N1],
    [OLD, aDaemonPod("n1", { name: "new", isReady: false }), aDaemonPod("n1", { name: "newer", bornAt: 9 })],
    { delete: ["newer"] },
  ],
  [
    "with surge a node whose Pod is terminating gets a new one",
    SURGE,
    [N1],
    [aDaemonPod("n1", { isTerminating: true })],
    { create: ["n1"] },
  ],
];

for (const [title, facts, nodes, pods, plan] of CASES) {
  test(title, () => {
    const { create, delete: deleted } = planned(facts, nodes, pods);

    deepEqual({ create, delete: deleted.map(({ metadata }) => metadata.name) }, { create: [], delete: [], ...plan });
  });
}

test("a failed Pod stays until its back-off has elapsed", () => {
  const failed = aDaemonPod("n1", { phase: "Failed" });

  const waiting = planned({}, [N1], [failed], 4_000);
  const due = planned({}, [N1], [failed]);

  deepEqual([waiting.delete, waiting.delayMs], [[], 4_000]);
  deepEqual([due.ended, due.delayMs], [[{ pod: failed, node: "n1" }], undefined]);
});

test("a plan for many nodes has no limit; the controller acts on part of it", () => {
  equal(planned({}, someNodes(1_000), []).create.length, 1_000);
});
