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
    it: "has made its first Pods progresses",
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
    it: "moves again after it had failed progresses since now",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ProgressDeadlineExceeded", "False")] },
    has: { new: { size: 3, available: 1 } },
    says: 'True ReplicaSetUpdated ReplicaSet "new" is progressing. updated now since now',
  },
  {
    it: "has all that is wanted is done",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3 } },
    says: 'True NewReplicaSetAvailable ReplicaSet "new" has successfully progressed. updated now since earlier',
  },
  {
    it: "is done stays so when its Pods break",
    before: { replicas: 3, updatedReplicas: 3, availableReplicas: 3, conditions: [progressing("NewReplicaSetAvailable")] },
    has: { new: { size: 3, available: 0 } },
    says: "True NewReplicaSetAvailable as it was updated earlier since earlier",
  },
  {
    it: "is done stays so when broken Pods come back one by one",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("NewReplicaSetAvailable")] },
    has: { new: { size: 3, available: 1 } },
    says: "True NewReplicaSetAvailable as it was updated earlier since earlier",
  },
  {
    it: "stands still within its time says nothing new",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 60 },
    says: "True ReplicaSetUpdated as it was updated earlier since earlier",
  },
  {
    it: "stands still for longer has failed",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ReplicaSetUpdated")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: 'False ProgressDeadlineExceeded ReplicaSet "new" has timed out progressing. updated now since now',
  },
  {
    it: "has failed stays so",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("ProgressDeadlineExceeded", "False")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: "False ProgressDeadlineExceeded as it was updated earlier since earlier",
  },
  {
    it: "was resumed long ago and stands still has failed",
    before: { replicas: 3, updatedReplicas: 3, conditions: [progressing("DeploymentResumed", "Unknown")] },
    has: { new: { size: 3, available: 0 } },
    facts: { progressDeadlineSeconds: 59 },
    says: 'False ProgressDeadlineExceeded ReplicaSet "new" has timed out progressing. updated now since now',
  },
  {
    it: "follows one that was done long ago has its own time",
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
  { it: "waits from when it was resumed", status: [progressing("DeploymentResumed", "Unknown")], delayMs: 540_001 },
  {
    it: "looks at once if the time is over",
    status: [progressing("ReplicaSetUpdated")],
    facts: { progressDeadlineSeconds: 1 },
    delayMs: 1,
  },
  { it: "waits for nothing when it has failed", status: [progressing("ProgressDeadlineExceeded", "False")], delayMs: undefined },
  { it: "waits for nothing when it is done", status: [progressing("NewReplicaSetAvailable")], delayMs: undefined },
  { it: "waits for nothing before it has begun", status: [], delayMs: undefined },
  {
    it: "waits for nothing without a deadline",
    status: [progressing("ReplicaSetUpdated")],
    facts: { progressDeadlineSeconds: 2 ** 31 - 1 },
    delayMs: undefined,
  },
  { it: "waits for nothing when all are there", status: [progressing("ReplicaSetUpdated")], facts: { replicas: 0 }, delayMs: undefined },
]) {
  test(`a rollout ${it}`, () => {
    assert.equal(progressCheckDelayMs(aDeployment(facts), { conditions: status }, NOW_MS), delayMs);
  });
}

for (const { it, paused, before, says, facts } of [
  { it: "is paused says so", paused: true, before: [], says: "Unknown DeploymentPaused Deployment is paused updated now since now" },
  {
    it: "is resumed says so",
    paused: false,
    before: [progressing("DeploymentPaused", "Unknown")],
    says: "Unknown DeploymentResumed Deployment is resumed updated now since earlier",
  },
  {
    it: "stays paused says nothing new",
    paused: true,
    before: [progressing("DeploymentPaused", "Unknown")],
    says: "Unknown DeploymentPaused as it was updated earlier since earlier",
  },
  { it: "was never paused says nothing", paused: false, before: [], says: "nothing" },
  {
    it: "has failed keeps saying that",
    paused: true,
    before: [progressing("ProgressDeadlineExceeded", "False")],
    says: "False ProgressDeadlineExceeded as it was updated earlier since earlier",
  },
  { it: "has no deadline says nothing", paused: true, before: [], facts: { progressDeadlineSeconds: 2 ** 31 - 1 }, says: "nothing" },
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
    it: "comes back after a failed one is reported",
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
