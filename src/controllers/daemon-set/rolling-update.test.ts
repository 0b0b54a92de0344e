import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { planRollingUpdate } from "./rolling-update.ts";
import { aDaemonPod, aDaemonSet, aNode, seenBy, someNodes, type DaemonFacts } from "./testing/daemons.ts";

const old = (node: string, facts = {}): Pod => aDaemonPod(node, { revision: "old", name: `old-${node}`, ...facts });
const fresh = (node: string, facts = {}): Pod => aDaemonPod(node, facts);
const NOT_READY = { isReady: false };
const SURGE: DaemonFacts = { maxSurge: 1 };

const CASES: readonly (readonly [
  title: string,
  facts: DaemonFacts,
  pods: readonly Pod[],
  plan: { readonly create?: readonly string[]; readonly delete?: readonly string[] },
])[] = [
  ["old Pods are replaced one by one", {}, [old("n1"), old("n2"), old("n3")], { delete: ["old-n1"] }],
  ["an update waits for the new Pod", {}, [fresh("n1", NOT_READY), old("n2"), old("n3")], {}],
  ["an update waits for a node without a Pod", {}, [old("n2"), old("n3")], {}],
  ["an update waits for a terminating Pod", {}, [old("n1", { isTerminating: true }), old("n2"), old("n3")], {}],
  ["an update continues when the new Pod is available", {}, [fresh("n1"), old("n2"), old("n3")], { delete: ["old-n2"] }],
  [
    "an update waits until the new Pod is ready for long enough",
    { minReadySeconds: 8 },
    [fresh("n1", { readyAt: 5 }), old("n2"), old("n3")],
    {},
  ],
  ["maxUnavailable Pods are replaced at once", { maxUnavailable: 2 }, [old("n1"), old("n2"), old("n3")], { delete: ["old-n1", "old-n2"] }],
  [
    "a percentage of unavailable Pods is rounded up",
    { maxUnavailable: "34%" },
    [old("n1"), old("n2"), old("n3")],
    { delete: ["old-n1", "old-n2"] },
  ],
  [
    "old Pods that are not available are replaced at any time",
    {},
    [old("n1"), old("n2", NOT_READY), old("n3", NOT_READY)],
    { delete: ["old-n2", "old-n3"] },
  ],
  ["a node with too many Pods counts as unavailable", {}, [old("n1"), old("n1", { name: "x" }), old("n2"), fresh("n3")], {}],
  ["updated Pods are left alone", {}, [fresh("n1"), fresh("n2"), fresh("n3")], {}],
  ["with OnDelete nothing is replaced", { updateStrategy: { type: "OnDelete" } }, [old("n1"), old("n2"), old("n3")], {}],

  ["with surge new Pods are created first", SURGE, [old("n1"), old("n2"), old("n3")], { create: ["n1"] }],
  [
    "with surge the old Pod goes when the new one is available, and the next node follows",
    SURGE,
    [old("n1"), fresh("n1"), old("n2"), old("n3")],
    { create: ["n2"], delete: ["old-n1"] },
  ],
  ["with surge an update waits for the new Pod", SURGE, [old("n1"), fresh("n1", NOT_READY), old("n2"), old("n3")], {}],
  ["a percentage of surplus Pods is rounded up", { maxSurge: "34%" }, [old("n1"), old("n2"), old("n3")], { create: ["n1", "n2"] }],
  [
    "with surge old Pods that are not available get a replacement at any time",
    SURGE,
    [old("n1", NOT_READY), old("n2", NOT_READY), old("n3")],
    { create: ["n1", "n2", "n3"] },
  ],
  [
    "with surge an old Pod that is not available on a node that does not match is deleted",
    SURGE,
    [fresh("n1"), fresh("n2"), fresh("n3"), old("tainted", NOT_READY)],
    { delete: ["old-tainted"] },
  ],
  [
    "with surge an available Pod on a node that does not match leaves when enough others are available",
    SURGE,
    [fresh("n1"), fresh("n2"), fresh("n3"), old("tainted")],
    { delete: ["old-tainted"] },
  ],
  [
    "with surge an available Pod on a node that does not match stays as long as it is needed",
    SURGE,
    [fresh("n1"), fresh("n2"), fresh("n3", NOT_READY), old("tainted")],
    {},
  ],
];

const NODES = [...someNodes(3), aNode("tainted", { taints: [{ key: "x", effect: "NoSchedule" }] })];

for (const [title, facts, pods, plan] of CASES) {
  test(title, () => {
    const daemonSet = aDaemonSet(facts);

    const { create, delete: deleted } = planRollingUpdate(daemonSet, seenBy(daemonSet, NODES, pods));

    deepEqual({ create, delete: deleted.map(({ metadata }) => metadata.name) }, { create: [], delete: [], ...plan });
  });
}
