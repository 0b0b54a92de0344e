import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { DaemonSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { daemonSetStatus, isSameStatus } from "./status.ts";
import { aDaemonPod, aDaemonSet, aNode, seenBy, someNodes, type DaemonFacts } from "./testing/daemons.ts";

const NODES = [...someNodes(3), aNode("tainted", { taints: [{ key: "x", effect: "NoSchedule" }] })];

function statusOf(facts: DaemonFacts, pods: readonly Pod[]): DaemonSetStatus {
  const daemonSet = aDaemonSet(facts);
  return daemonSetStatus(daemonSet, seenBy(daemonSet, NODES, pods));
}

const NONE = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 3, numberReady: 0, observedGeneration: 1 };

const CASES: readonly (readonly [title: string, facts: DaemonFacts, pods: readonly Pod[], status: DaemonSetStatus])[] = [
  ["without Pods", {}, [], { ...NONE, numberUnavailable: 3 }],
  [
    "in the middle of an update",
    {},
    [aDaemonPod("n1"), aDaemonPod("n2", { revision: "old" }), aDaemonPod("n3", { isReady: false }), aDaemonPod("tainted")],
    {
      ...NONE,
      currentNumberScheduled: 3,
      numberMisscheduled: 1,
      numberReady: 2,
      updatedNumberScheduled: 2,
      numberAvailable: 2,
      numberUnavailable: 1,
    },
  ],
  [
    "with a Pod that is not ready for long enough",
    { minReadySeconds: 60 },
    [aDaemonPod("n1")],
    { ...NONE, currentNumberScheduled: 1, numberReady: 1, updatedNumberScheduled: 1, numberUnavailable: 3 },
  ],
  [
    "of a node with two Pods, of which the older one counts",
    {},
    [aDaemonPod("n1", { name: "new", bornAt: 9, isReady: false }), aDaemonPod("n1", { name: "old", revision: "old" })],
    { ...NONE, currentNumberScheduled: 1, numberReady: 1, numberAvailable: 1, numberUnavailable: 2 },
  ],
  [
    "with what others and former reconciliations wrote",
    { status: { ...NONE, collisionCount: 2, conditions: [{ type: "Checked", status: "True" }] } },
    [],
    { ...NONE, numberUnavailable: 3, collisionCount: 2, conditions: [{ type: "Checked", status: "True" }] },
  ],
];

for (const [title, facts, pods, status] of CASES) test(`status ${title}`, () => deepEqual(statusOf(facts, pods), status));

test("a status differs if a count differs, or a newer generation was observed", () => {
  const status = statusOf({}, [aDaemonPod("n1")]);
  const changes = [{}, { numberReady: 2 }, { observedGeneration: 2 }, { observedGeneration: 0 }];

  const isSame = changes.map((change) => isSameStatus({ ...status, ...change }, status));

  deepEqual(isSame, [true, false, false, true]);
});
