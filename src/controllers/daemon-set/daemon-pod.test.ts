import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { TEMPLATE_GENERATION_ANNOTATION } from "../../api/apps/v1/daemon-set-generation.ts";
import { bySeniority, currentTemplate, daemonPods, isUpdated, podsByNode, targetNode } from "./daemon-pod.ts";
import { aDaemonPod, aDaemonSet, aTemplate } from "./testing/daemons.ts";

test("the Pod for a node has the labels of its revision, and an affinity to the node instead of the template's", () => {
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: "x", operator: "Exists" as const }] } }];
  const replaced = { nodeSelectorTerms: [{ matchExpressions: [{ key: "gpu", operator: "Exists" as const }] }] };
  const affinity = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: replaced,
    },
  };

  const { metadata, spec } = daemonPods(aDaemonSet(), aTemplate("agent:1", { affinity }), { hash: "h", generation: "3" })("n1");

  deepEqual(metadata.labels, { app: "agent", "pod-template-generation": "3", "controller-revision-hash": "h" });
  equal(metadata.generateName, "agent-");
  deepEqual(spec?.affinity, {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }],
      },
    },
  });
});

test("a Pod is meant for the node that it is bound to, or that its affinity names", () => {
  const several = aDaemonPod("a", { isUnbound: true });
  const terms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: ["a", "b"] }] }];
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } };
  const ambiguous = { ...several, spec: { containers: [], affinity } };
  const free = { ...several, spec: { containers: [] } };

  deepEqual([aDaemonPod("a"), several, ambiguous, free].map(targetNode), ["a", "a", undefined, undefined]);
});

test("a Pod that ended and is being deleted no longer occupies its node", () => {
  const byNode = podsByNode([
    aDaemonPod("a"),
    aDaemonPod("b", { phase: "Failed", isTerminating: true }),
    aDaemonPod("c", { phase: "Failed" }),
  ]);

  deepEqual([...byNode.keys()], ["a", "c"]);
});

test("bound Pods come before others, and older before younger", () => {
  const pods = [
    aDaemonPod("n", { name: "waiting", isUnbound: true }),
    aDaemonPod("n", { name: "young", bornAt: 2 }),
    aDaemonPod("n", { name: "b" }),
    aDaemonPod("n", { name: "a" }),
  ];

  deepEqual(
    pods.toSorted(bySeniority).map(({ metadata }) => metadata.name),
    ["a", "b", "young", "waiting"],
  );
});

for (const [generation, labels, expected] of [
  ["1", { "controller-revision-hash": "h" }, true],
  ["1", { "controller-revision-hash": "x" }, false],
  ["1", { "pod-template-generation": "1" }, true],
  ["2", { "pod-template-generation": "1" }, false],
  ["?", { "pod-template-generation": "?" }, false],
] as const) {
  test(`a Pod with ${JSON.stringify(labels)} is ${expected ? "" : "not "}of template ${generation} with the hash h`, () => {
    const daemonSet = aDaemonSet({ annotations: { [TEMPLATE_GENERATION_ANNOTATION]: generation } });
    const pod = aDaemonPod("n");

    equal(isUpdated({ ...pod, metadata: { ...pod.metadata, labels } }, currentTemplate(daemonSet, "h")), expected);
  });
}
