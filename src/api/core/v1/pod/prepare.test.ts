/** The write strategy of Pods, path by path. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodStatus } from "../../../generated/core/v1.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { defaultPod } from "./defaults/pod.ts";
import { gracePeriodOf, preparePodForCreate, preparePodForUpdate, prepareStatusUpdate } from "./prepare.ts";
import { newPod, sentPod, type PodParts } from "./testing/pods.ts";

test("a new Pod is Pending and has its QoS class, whatever status was sent", () => {
  const pod = newPod({ status: { phase: "Running", podIP: "1.2.3.4" }, container: { resources: { requests: { cpu: "1" } } } });

  assert.deepEqual(pod.status, { phase: "Pending", qosClass: "Burstable" });
});

test("a new Pod with scheduling gates has PodScheduled=False with reason SchedulingGated", () => {
  const pod = newPod({ metadata: { creationTimestamp: "2026-01-02T03:04:05Z" }, spec: { schedulingGates: [{ name: "a" }] } });

  assert.deepEqual(pod.status?.conditions, [
    {
      type: "PodScheduled",
      status: "False",
      lastProbeTime: null,
      lastTransitionTime: "2026-01-02T03:04:05Z",
      reason: "SchedulingGated",
      message: "Scheduling is blocked due to non-empty scheduling gates",
    },
  ]);
});

test("matchLabelKeys become requirements with the Pod's own labels", () => {
  const labelSelector = { matchLabels: { a: "b" } };
  const pod = newPod({
    metadata: { labels: { app: "x", revision: "1" } },
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "z", labelSelector, matchLabelKeys: ["app", "none"], mismatchLabelKeys: ["revision"] },
          ],
        },
      },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule", labelSelector, matchLabelKeys: ["revision"] },
      ],
    },
  });

  assert.deepEqual(pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0]?.labelSelector, {
    matchLabels: { a: "b" },
    matchExpressions: [
      { key: "app", operator: "In", values: ["x"] },
      { key: "revision", operator: "NotIn", values: ["1"] },
    ],
  });
  assert.deepEqual(pod.spec?.topologySpreadConstraints?.[0]?.labelSelector, {
    matchLabels: { a: "b" },
    matchExpressions: [{ key: "revision", operator: "In", values: ["1"] }],
  });
});

test("AppArmor and seccomp annotations become fields", () => {
  const profileOf = (text: string): unknown => {
    const pod = newPod({ metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": text } } });
    return pod.spec?.containers[0]?.securityContext?.appArmorProfile;
  };

  assert.deepEqual(profileOf("runtime/default"), { type: "RuntimeDefault" });
  assert.deepEqual(profileOf("unconfined"), { type: "Unconfined" });
  assert.deepEqual(profileOf("localhost/mine"), { type: "Localhost", localhostProfile: "mine" });
  assert.deepEqual(profileOf("localhost/"), undefined);
});

test("an update of the Pod keeps its status", () => {
  const previous = newPod({});

  const next = preparePodForUpdate(sentPod({ status: { phase: "Failed" } }), previous);

  assert.equal(next.status, previous.status);
});

test("a status write changes nothing but the status, and keeps omitted parts of it", () => {
  const made = newPod({ metadata: { ownerReferences: [{ name: "owner" }] } });
  const status = {
    ...made.status,
    observedGeneration: 3,
    conditions: [{ type: "Ready", status: "True", observedGeneration: 2 }],
  } as PodStatus;
  const previous: Pod = { ...made, status };
  const reported = {
    phase: "Running",
    conditions: [{ type: "Ready", status: "False" }],
    nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: "x" }],
    containerStatuses: [{ name: "web", volumeMounts: [{ name: "v", mountPath: "/v", volumeStatus: { image: {} } }] }],
  };

  const next = prepareStatusUpdate(sentPod({ metadata: { labels: { a: "b" } }, spec: { hostname: "x" }, status: reported }), previous);

  assert.equal(next.spec, previous.spec);
  assert.deepEqual(next.metadata, { ...previous.metadata, labels: { a: "b" } });
  assert.deepEqual(next.status, {
    phase: "Running",
    qosClass: "BestEffort",
    observedGeneration: 3,
    conditions: [{ type: "Ready", status: "False", observedGeneration: 2 }],
    containerStatuses: [{ name: "web", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
  });
});

const GRACE_ROWS: readonly (readonly [string, PodParts, number | undefined, number])[] = [
  ["it is not scheduled", {}, 60, 0],
  ["it has failed", { spec: { nodeName: "n" }, status: { phase: "Failed" } }, 60, 0],
  ["it has succeeded", { spec: { nodeName: "n" }, status: { phase: "Succeeded" } }, 60, 0],
  ["it runs", { spec: { nodeName: "n" }, status: { phase: "Running" } }, undefined, 30],
  ["it runs and has a period of its own", { spec: { nodeName: "n", terminationGracePeriodSeconds: 5 } }, undefined, 5],
  ["the client requests another", { spec: { nodeName: "n" } }, 7, 7],
  ["the client requests 0", { spec: { nodeName: "n" } }, 0, 0],
  ["the client requests a negative one", { spec: { nodeName: "n" } }, -1, 1],
];

for (const [title, parts, requested, seconds] of GRACE_ROWS) {
  test(`the deletion grace period is ${seconds} s if ${title}`, () => {
    assert.equal(gracePeriodOf(defaultPod(sentPod(parts)), requested), seconds);
  });
}

test("preparing a Pod does not modify the input", () => {
  const sent: JsonObject = structuredClone(sentPod({ spec: { schedulingGates: [{ name: "a" }] } }));
  const before = structuredClone(sent);

  preparePodForCreate(sent as Pod);

  assert.deepEqual(sent, before);
});
