import assert from "node:assert/strict";
import test from "node:test";
import type { Deployment, DeploymentCondition, DeploymentStatus } from "../../api/generated/apps/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { progressCheckDelayMs, rolloutStatus, withNewReplicaSetFound, withPauseReported } from "./progress.ts";
import { aDeployment, aReplicaSet, aRollout, type DeploymentFacts, type ReplicaSetFacts } from "./testing/rollouts.ts";

const EARLIER_MS = Date.parse("2026-01-01T00:00:00Z");
const NOW_MS = EARLIER_MS + 60_000;
const EARLIER = formatTime(EARLIER_MS);
const NOW = formatTime(NOW_MS);

function progressing(reason: string, status = "True", message = "as it was"): DeploymentCondition {
  return { type: "Progressing", status, lastUpdateTime: EARLIER, lastTransitionTime: EARLIER, reason, message };
}

function textOf(condition: DeploymentCondition | undefined): string {
  if (condition === undefined) return "nothing";
  const { status, reason, message, lastUpdateTime, lastTransitionTime } = condition;
  const when = (time: string | undefined) => (time === NOW ? "now" : "earlier");
  return `${status} ${reason} ${message} updated ${when(lastUpdateTime)} since ${when(lastTransitionTime)}`;
}

interface Row {
  readonly it: string;
  readonly before: DeploymentStatus;
  readonly has: Readonly<Record<string, ReplicaSetFacts>>;
  readonly facts?: DeploymentFacts;
  readonly says: string;
}

const ROWS: readonly Row[] = [
  {
    it: "created its first Pods progresses",
    before: { conditions: [progressing("NewReplicaSetCreated")] },
    has: { new: { size: 3, available: 0 } },
    says: 'True ReplicaSetUpdated ReplicaSet "new" is progressing. updated now since earlier',
  },
  {
    it: "has more ready Pods reports progress again",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3, available: 1 } },
    says: 'True ReplicaSetUpdated ReplicaSet "new" is progressing. updated now since earlier',
  },
  {
    it: "has fewer old Pods progresses, even with no new ReplicaSet yet",
    before: { replicas: 3, conditions: [progressing("NewReplicaSetAvailable")] },
    has: { old: { size: 1 } },
    says: 'True ReplicaSetUpdated Deployment "web" is progressing. updated now since earlier',
  },
  {
    it: "continues after it had failed progresses, with a new transition time",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ProgressDeadlineExceeded", "False")] },
    has: { new: { size: 3, available: 1 } },
    says: 'True ReplicaSetUpdated ReplicaSet "new" is progressing. updated now since now',
  },
  {
    it: "has all desired replicas is complete",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3 } },
    says: 'True NewReplicaSetAvailable ReplicaSet "new" has successfully progressed. updated now since earlier',
  },
  {
    it: "is complete stays complete when its Pods fail",
    before: { replicas: 3, updatedReplicas: 3, availableReplicas: 3, conditions: [progressing("NewReplicaSetAvailable")] },
    has: { new: { size: 3, available: 0 } },
    says: "True NewReplicaSetAvailable as it was updated earlier since earlier",
  },
  {
    it: "is complete stays complete when failed Pods recover one by one",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("NewReplicaSetAvailable")] },
    has: { new: { size: 3, available: 1 } },
    says: "True NewReplicaSetAvailable as it was updated earlier since earlier",
  },
  {
    it: "stalls within the progress deadline reports nothing new",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 60 },
    says: "True ReplicaSetUpdated as it was updated earlier since earlier",
  },
  {
    it: "stalls beyond the progress deadline has failed",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: 'False ProgressDeadlineExceeded ReplicaSet "new" has timed out progressing. updated now since now',
  },
  {
    it: "has failed stays failed",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ProgressDeadlineExceeded", "False")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: "False ProgressDeadlineExceeded as it was updated earlier since earlier",
  },
  {
    it: "was resumed long ago and stalls has failed",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("DeploymentResumed", "Unknown")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: 'False ProgressDeadlineExceeded ReplicaSet "new" has timed out progressing. updated now since now',
  },
  {
    it: "follows one that completed long ago has its own deadline",
    before: { replicas: 3, readyReplicas: 3, availableReplicas: 3, conditions: [progressing("NewReplicaSetAvailable")] },
    has: { old: { size: 3 }, new: { size: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: "True NewReplicaSetAvailable as it was updated earlier since earlier",
  },
  {
    it: "has no deadline reports nothing",
    before: { conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3 } },
    facts: { progressDeadlineSeconds: 2 ** 31 - 1 },
    says: "nothing",
  },
];

for (const { it, before, has, facts, says } of ROWS) {
  test(`a rollout that ${it}`, () => {
    const deployment = aDeployment({ ...facts, status: before });
    const all = Object.entries(has).map(([name, one]) => aReplicaSet(name, one));

    const status = rolloutStatus(aRollout(deployment, ...all), NOW_MS);

    assert.equal(textOf(findCondition(status.conditions, "Progressing")), says);
  });
}

test("ReplicaFailure of a ReplicaSet is copied to the Deployment, that of the new one first, until it is resolved", () => {
  const failure = (message: string) => ({
    status: { conditions: [{ type: "ReplicaFailure", status: "True", lastTransitionTime: EARLIER, reason: "FailedCreate", message }] },
  });
  const reported = (...all: readonly [string, ReplicaSetFacts][]) => {
    const before = { type: "ReplicaFailure", status: "True", reason: "FailedDelete" };
    const deployment = aDeployment({ status: { conditions: [before] } });
    const { conditions } = rolloutStatus(aRollout(deployment, ...all.map(([name, facts]) => aReplicaSet(name, facts))), NOW_MS);
    return findCondition(conditions, "ReplicaFailure");
  };

  const copied = { type: "ReplicaFailure", status: "True", lastUpdateTime: EARLIER, lastTransitionTime: EARLIER, reason: "FailedCreate" };
  assert.deepEqual(reported(["old", failure("quota of old")], ["new", failure("quota of new")])?.message, "quota of new");
  assert.deepEqual(reported(["old", failure("quota of old")], ["new", {}]), { ...copied, message: "quota of old" });
  assert.equal(reported(["old", {}], ["new", {}]), undefined);
});

for (const { it, status, facts, delayMs } of [
  { it: "waits for its deadline", status: [progressing("ReplicaSetUpdated")], delayMs: 540_001 },
  { it: "waits for its deadline since it was resumed", status: [progressing("DeploymentResumed", "Unknown")], delayMs: 540_001 },
  {
    it: "is checked immediately if the deadline has passed",
    status: [progressing("ReplicaSetUpdated")],
    facts: { progressDeadlineSeconds: 1 },
    delayMs: 1,
  },
  { it: "sets no timer when it has failed", status: [progressing("ProgressDeadlineExceeded", "False")], delayMs: undefined },
  { it: "sets no timer when it is complete", status: [progressing("NewReplicaSetAvailable")], delayMs: undefined },
  { it: "sets no timer before it has started", status: [], delayMs: undefined },
  {
    it: "sets no timer without a deadline",
    status: [progressing("ReplicaSetUpdated")],
    facts: { progressDeadlineSeconds: 2 ** 31 - 1 },
    delayMs: undefined,
  },
  { it: "sets no timer when all replicas exist", status: [progressing("ReplicaSetUpdated")], facts: { replicas: 0 }, delayMs: undefined },
]) {
  test(`a rollout ${it}`, () => {
    assert.equal(progressCheckDelayMs(aDeployment(facts), { conditions: status }, NOW_MS), delayMs);
  });
}

for (const { it, paused, before, says, facts } of [
  {
    it: "is paused reports DeploymentPaused",
    paused: true,
    before: [],
    says: "Unknown DeploymentPaused Deployment is paused updated now since now",
  },
  {
    it: "is resumed reports DeploymentResumed",
    paused: false,
    before: [progressing("DeploymentPaused", "Unknown")],
    says: "Unknown DeploymentResumed Deployment is resumed updated now since earlier",
  },
  {
    it: "stays paused reports nothing new",
    paused: true,
    before: [progressing("DeploymentPaused", "Unknown")],
    says: "Unknown DeploymentPaused as it was updated earlier since earlier",
  },
  { it: "was never paused reports nothing", paused: false, before: [], says: "nothing" },
  {
    it: "has failed keeps reporting the failure",
    paused: true,
    before: [progressing("ProgressDeadlineExceeded", "False")],
    says: "False ProgressDeadlineExceeded as it was updated earlier since earlier",
  },
  { it: "has no deadline reports nothing", paused: true, before: [], facts: { progressDeadlineSeconds: 2 ** 31 - 1 }, says: "nothing" },
]) {
  test(`a Deployment that ${it}`, () => {
    assert.equal(progressingText(withPauseReported(aDeployment({ ...facts, paused, status: { conditions: before } }), NOW_MS)), says);
  });
}

const REVISION = "deployment.kubernetes.io/revision";
const FOUND = 'True FoundNewReplicaSet Found new replica set "new" updated now since';

for (const { it, revision, before, paused = false, says } of [
  { it: "is the Deployment's first is reported", revision: 1, before: [], says: `${FOUND} now` },
  {
    it: "is already known is not reported again",
    revision: 1,
    before: [progressing("ReplicaSetUpdated")],
    says: "True ReplicaSetUpdated as it was updated earlier since earlier",
  },
  {
    it: "is another revision than the reported one is reported",
    revision: 2,
    before: [progressing("NewReplicaSetAvailable")],
    says: `${FOUND} earlier`,
  },
  {
    it: "is used again after a failed one is reported",
    revision: 2,
    before: [progressing("ProgressDeadlineExceeded", "False")],
    says: `${FOUND} now`,
  },
  {
    it: "is another revision while the Deployment is paused is not reported",
    revision: 2,
    before: [progressing("DeploymentPaused", "Unknown")],
    paused: true,
    says: "Unknown DeploymentPaused as it was updated earlier since earlier",
  },
]) {
  test(`a ReplicaSet that ${it}`, () => {
    const deployment = aDeployment({ paused, annotations: { [REVISION]: "1" }, status: { conditions: before } });

    assert.equal(progressingText(withNewReplicaSetFound(deployment, aReplicaSet("new", { revision }), NOW_MS)), says);
  });
}

function progressingText({ status }: Deployment): string {
  return textOf(findCondition(status?.conditions, "Progressing"));
}
