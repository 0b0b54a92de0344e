import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { rolloutState } from "./rollout-state.ts";

const CASES: readonly {
  readonly it: string;
  readonly object: { readonly kind: string };
  readonly wanted: readonly [string, string, string];
}[] = [
  { it: "complete", object: deployment({}), wanted: ["Complete", "", "3/3"] },
  { it: "paused", object: deployment({}, { paused: true }), wanted: ["Paused", "Changes of the template wait", "3/3"] },
  {
    it: "not observed",
    object: deployment({ observedGeneration: 1 }),
    wanted: ["Progressing", "Waiting for the controller to observe the change", "3/3"],
  },
  { it: "updating", object: deployment({ updatedReplicas: 1 }), wanted: ["Progressing", "1 of 3 new replicas updated", "3/3"] },
  { it: "removing old ones", object: deployment({ replicas: 4 }), wanted: ["Progressing", "1 old replicas pending termination", "3/3"] },
  {
    it: "becoming available",
    object: deployment({ availableReplicas: 2 }),
    wanted: ["Progressing", "2 of 3 updated replicas available", "3/3"],
  },
  {
    it: "past its deadline",
    object: deployment({ updatedReplicas: 1, conditions: [{ type: "Progressing", reason: "ProgressDeadlineExceeded" }] }),
    wanted: ["Failed", "Exceeded its progress deadline", "3/3"],
  },
  { it: "complete", object: statefulSet({}), wanted: ["Complete", "", "2/2"] },
  { it: "not ready", object: statefulSet({ readyReplicas: 1 }), wanted: ["Progressing", "1 of 2 Pods ready", "1/2"] },
  {
    it: "updating",
    object: statefulSet({ currentRevision: "a", updatedReplicas: 1 }),
    wanted: ["Progressing", "1 of 2 Pods updated", "2/2"],
  },
  {
    it: "waiting for deletion",
    object: statefulSet({ currentRevision: "a" }, { type: "OnDelete" }),
    wanted: ["Waiting", "Pods are replaced when they are deleted (OnDelete)", "2/2"],
  },
  {
    it: "with its partition updated",
    object: statefulSet({ currentRevision: "a", updatedReplicas: 1 }, { rollingUpdate: { partition: 1 } }),
    wanted: ["Complete", "", "2/2"],
  },
  { it: "updating", object: daemonSet({ updatedNumberScheduled: 1 }), wanted: ["Progressing", "1 of 2 Pods updated", "2/2"] },
  { it: "becoming available", object: daemonSet({ numberAvailable: 0 }), wanted: ["Progressing", "0 of 2 Pods available", "2/2"] },
  { it: "complete", object: daemonSet({}), wanted: ["Complete", "", "2/2"] },
  { it: "running", object: job({ active: 1, failed: 2 }), wanted: ["Running", "1 active, 2 failed", "0/1"] },
  { it: "complete", object: job({ succeeded: 1, conditions: [{ type: "Complete", status: "True" }] }), wanted: ["Complete", "", "1/1"] },
  {
    it: "failed",
    object: job({ conditions: [{ type: "Failed", status: "True", message: "backoff" }] }),
    wanted: ["Failed", "backoff", "0/1"],
  },
  { it: "suspended", object: job({}, { suspend: true }), wanted: ["Suspended", "", "0/1"] },
  { it: "waiting", object: cronJob({}), wanted: ["Waiting", "* * * * *", ""] },
  { it: "running", object: cronJob({ active: [{}], lastScheduleTime: "T" }), wanted: ["Running", "* * * * *, last at T", "1 active"] },
  { it: "suspended", object: cronJob({}, { suspend: true }), wanted: ["Suspended", "* * * * *", ""] },
];

for (const { it, object, wanted } of CASES)
  test(`the rollout of a ${object.kind}: ${it}`, () => {
    const { state, detail, ready } = rolloutState(object);
    deepEqual([state, detail, ready], wanted);
  });

function deployment(status: object, spec: object = {}) {
  const counts = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3, observedGeneration: 2 };
  return { kind: "Deployment", metadata: { generation: 2 }, spec: { replicas: 3, ...spec }, status: { ...counts, ...status } };
}

function statefulSet(status: object, updateStrategy: object = {}) {
  const counts = { readyReplicas: 2, updatedReplicas: 2, currentRevision: "b", updateRevision: "b" };
  return { kind: "StatefulSet", spec: { replicas: 2, updateStrategy }, status: { ...counts, ...status } };
}

function daemonSet(status: object) {
  const counts = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2 };
  return { kind: "DaemonSet", status: { ...counts, ...status } };
}

function job(status: object, spec: object = {}) {
  return { kind: "Job", spec: { completions: 1, ...spec }, status };
}

function cronJob(status: object, spec: object = {}) {
  return { kind: "CronJob", spec: { schedule: "* * * * *", ...spec }, status };
}
