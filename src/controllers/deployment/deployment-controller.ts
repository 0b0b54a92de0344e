/**
 * Reconciles a Deployment through ReplicaSets, one per template it has had. A template change scales a new one up and the others down;
 * empty ones stay as the history for rollbacks.
 *
 * A reconciliation makes one step and reports what it observed. The result of the step (a ReplicaSet's new status) triggers the next one;
 * only the progress deadline needs a timer. Not here: creating Pods (controllers/replica-set).
 */
import { deployments } from "../../api/apps/v1/deployment.ts";
import { REVISION_ANNOTATION } from "../../api/apps/v1/deployment-revision.ts";
import { isSameTemplate } from "../../api/apps/v1/pod-template-hash.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { isRollingUpdate, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import { isReason, isStatusError, type StatusError } from "../../api/machinery/status-error.ts";
import { deepEqual } from "../../base/deep.ts";
import { itsControllerOrAdopters, keepSelectors } from "../shared/adopters.ts";
import { claim } from "../shared/adoption.ts";
import { mustBeCurrent } from "../shared/must-be-current.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { controllerReference, itself, keyOf } from "../runtime/keys.ts";
import { PROGRESS } from "./conditions.ts";
import { planForgetting } from "./history.ts";
import { newReplicaSetFor, refreshed } from "./new-replica-set.ts";
import {
  progressCheckDelayMs,
  rolloutStatus,
  withNewReplicaSetCreated,
  withNewReplicaSetFound,
  withNewReplicaSetRefused,
  withPauseReported,
} from "./progress.ts";
import { isScaled, planScaling } from "./proportional-scaling.ts";
import { planOldOnesAway, runsOldPods } from "./recreate.ts";
import { askedRevision, planRollback } from "./rollback.ts";
import { planRollingUpdate } from "./rolling-update.ts";
import { rolloutOf, sizeOf, withReplicaSet, type Rollout, type StartedRollout } from "./rollout.ts";
import { scaled, scalingEvent, stepTo, type ScalingStep } from "./scaling.ts";
import { isComplete, observedStatus } from "./status.ts";
import { deploymentsWaitingFor } from "./waiting-for-pods.ts";

const readSelector = keepSelectors(labelSelectorFromObject);

export const deploymentController = defineController({
  name: "deployment-controller",
  aliases: ["deployment"],
  account: "deployment-controller",
  rules: [
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "update"] },
    { apiGroups: ["apps"], resources: ["deployments/status"], verbs: ["update"] },
    // Required for ReplicaSets with blockOwnerDeletion.
    { apiGroups: ["apps"], resources: ["deployments/finalizers"], verbs: ["update"] },
    { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "update", "patch"] },
  ],
  watches: [
    watch(deployments, itself),
    watch(
      replicaSets,
      itsControllerOrAdopters(deployments, ({ spec }) => readSelector(spec?.selector)),
    ),
    watch(pods, deploymentsWaitingFor),
  ],
  reconcile,
});

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const deployment = pass.read.get(deployments, key);
  if (deployment?.spec === undefined) return onChange; // Deleted: the garbage collector deletes its ReplicaSets.
  const { spec } = deployment;
  const selector = readSelector(spec.selector);
  if (selector === undefined) return await refuseSelector(deployment, pass);
  const owned = await claim({ owner: deployment, ownerKind: deployments, kind: replicaSets, selector, pass });
  const isTerminating = deployment.metadata.deletionTimestamp !== undefined;
  const reported = isTerminating ? deployment : withPauseReported(deployment, pass.clock.now());
  const rollout = await refreshNewReplicaSet(rolloutOf(reported, owned), pass);

  if (isTerminating) return await reportCounts(rollout, pass);
  if (spec.paused === true) return await scaleWhilePaused(rollout, pass);
  const asked = askedRevision(deployment);
  if (asked !== undefined) return await rollBack(rollout, spec, asked, pass);
  if (isScaled(rollout)) return await reportCounts(await scale(rollout, planScaling(rollout), pass), pass);
  return isRollingUpdate(deployment) ? await rollOut(rollout, spec, pass) : await recreate(rollout, spec, pass);
}

// ── strategies ──────────────────────────────────────────────────────────────────────────────────────

/** The API rejects such a selector; an old object with one would adopt every ReplicaSet. */
async function refuseSelector(deployment: Deployment, pass: Pass): Promise<Outcome> {
  const message = "This deployment is selecting all pods. A non-empty selector is required.";
  pass.events.record(deployment, { type: "Warning", reason: "SelectingAll", message });
  const { generation = 0 } = deployment.metadata;
  if ((deployment.status?.observedGeneration ?? 0) < generation) {
    await pass.write.updateStatus(deployments, { ...deployment, status: { ...deployment.status, observedGeneration: generation } });
  }
  return onChange;
}

/** Only its scale is applied, not its template. */
async function scaleWhilePaused(rollout: Rollout, pass: Pass): Promise<Outcome> {
  const done = await scale(rollout, planScaling(rollout), pass);
  if (askedRevision(done.deployment) === undefined) await forgetOldOnes(done, pass);
  return await reportCounts(done, pass);
}

async function rollBack(rollout: Rollout, spec: DeploymentSpec, asked: bigint, pass: Pass): Promise<Outcome> {
  const started = await startRollout(rollout, spec, pass);
  if (started === undefined) return onChange;
  const deployment = await writeStatus(started.deployment, started.deployment.status ?? {}, pass);
  const { deployment: next, event } = planRollback({ ...started, deployment }, asked);
  await pass.write.update(deployments, next);
  pass.events.record(deployment, event);
  return onChange;
}

async function rollOut(rollout: Rollout, spec: DeploymentSpec, pass: Pass): Promise<Outcome> {
  const started = await startRollout(rollout, spec, pass);
  if (started === undefined) return onChange;
  const steps = planRollingUpdate(started);
  const done = await scale(started, steps, pass);
  if (steps.length === 0) await forgetWhenComplete(done, pass);
  return await reportProgress(done, pass);
}

async function recreate(rollout: Rollout, spec: DeploymentSpec, pass: Pass): Promise<Outcome> {
  const away = planOldOnesAway(rollout);
  if (away.length > 0) return await reportProgress(await scale(rollout, away, pass), pass);
  if (runsOldPods(rollout, (one) => pass.read.controlledBy(pods, one))) return await reportProgress(rollout, pass);
  const started = await startRollout(rollout, spec, pass);
  if (started === undefined) return onChange;
  const { newReplicaSet, deployment } = started;
  const wanted = wantedReplicas(deployment);
  const steps = sizeOf(newReplicaSet) === wanted ? [] : [stepTo(newReplicaSet, wanted)];
  const done = await scale(started, steps, pass);
  await forgetWhenComplete(done, pass);
  return await reportProgress(done, pass);
}

// ── the new ReplicaSet ──────────────────────────────────────────────────────────────────────────────

/** Copies the Deployment's annotations to the new ReplicaSet, if it exists, and the revision back to the Deployment. */
async function refreshNewReplicaSet(rollout: Rollout, pass: Pass): Promise<Rollout> {
  const { newReplicaSet, deployment } = rollout;
  if (newReplicaSet === undefined) return rollout;
  const next = refreshed(rollout, newReplicaSet);
  if (next !== newReplicaSet) await mustBeCurrent(deployments, deployment, pass);
  const written = next === newReplicaSet ? newReplicaSet : await pass.write.update(replicaSets, next);
  const reported = withRevisionOf(withNewReplicaSetFound(deployment, written, pass.clock.now()), written);
  return withReplicaSet({ ...rollout, deployment: reported }, written);
}

/** Creates the new ReplicaSet if it is missing. Undefined if that is impossible now; a change will trigger a retry. */
async function startRollout(rollout: Rollout, spec: DeploymentSpec, pass: Pass): Promise<StartedRollout | undefined> {
  if (rollout.newReplicaSet !== undefined) return { ...rollout, newReplicaSet: rollout.newReplicaSet };
  const wanted = newReplicaSetFor(rollout, spec);
  await mustBeCurrent(deployments, rollout.deployment, pass);
  try {
    return withCreationReported(rollout, await pass.write.create(replicaSets, wanted), pass);
  } catch (error) {
    if (isReason(error, "AlreadyExists")) return await takeOrAvoid(rollout, wanted, pass);
    if (isNamespaceTerminating(error)) return undefined; // The namespace is terminating, this Deployment included.
    if (isStatusError(error)) await reportRejection(rollout.deployment, wanted, error, pass);
    throw error;
  }
}

function withCreationReported(rollout: Rollout, newReplicaSet: ReplicaSet, pass: Pass): StartedRollout {
  const { name } = newReplicaSet.metadata;
  const size = sizeOf(newReplicaSet);
  if (size > 0) pass.events.record(rollout.deployment, scalingEvent(name, { from: 0, to: size }));
  const reported = withNewReplicaSetCreated(rollout.deployment, name, pass.clock.now());
  return { ...rollout, deployment: withRevisionOf(reported, newReplicaSet), newReplicaSet };
}

/** The name exists: it is this Deployment's own, not yet observed, or a foreign one; then the next one gets another name. */
async function takeOrAvoid(rollout: Rollout, wanted: ReplicaSet, pass: Pass): Promise<StartedRollout | undefined> {
  const { deployment } = rollout;
  const there = await pass.write.get(replicaSets, keyOf(wanted));
  const isOwn = controllerReference(there)?.uid === deployment.metadata.uid;
  const template = there.spec?.template;
  if (isOwn && template !== undefined && deployment.spec !== undefined && isSameTemplate(template, deployment.spec.template)) {
    const reported = withNewReplicaSetFound(deployment, there, pass.clock.now());
    return { ...rollout, deployment: withRevisionOf(reported, there), newReplicaSet: there };
  }
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  pass.log.info("Name collision of a new ReplicaSet", { replicaSet: there.metadata.name, collisionCount });
  await writeStatus(deployment, { ...deployment.status, collisionCount }, pass);
  return undefined;
}

async function reportRejection(deployment: Deployment, { metadata }: ReplicaSet, error: StatusError, pass: Pass): Promise<void> {
  const message = `Failed to create new replica set "${metadata.name}": ${error.message}`;
  pass.events.record(deployment, { type: "Warning", reason: PROGRESS.notCreated, message });
  const { status = {} } = withNewReplicaSetRefused(deployment, message, pass.clock.now());
  await writeStatus(deployment, status, pass);
}

function withRevisionOf(deployment: Deployment, replicaSet: ReplicaSet): Deployment {
  const revision = replicaSet.metadata.annotations?.[REVISION_ANNOTATION];
  const { metadata } = deployment;
  if (revision === undefined || metadata.annotations?.[REVISION_ANNOTATION] === revision) return deployment;
  return { ...deployment, metadata: { ...metadata, annotations: { ...metadata.annotations, [REVISION_ANNOTATION]: revision } } };
}

// ── act ─────────────────────────────────────────────────────────────────────────────────────────────

/** Sequentially, so that scale-downs come first. */
async function scale<R extends Rollout>(rollout: R, steps: readonly ScalingStep[], pass: Pass): Promise<R> {
  if (steps.length > 0) await mustBeCurrent(deployments, rollout.deployment, pass);
  let done = rollout;
  for (const { name, replicas } of steps) {
    const present = [done.newReplicaSet, ...done.oldReplicaSets].find((one) => one?.metadata.name === name);
    const next = present && scaled(present, replicas, done.deployment);
    if (present === undefined || next === undefined || next === present) continue;
    const from = sizeOf(present);
    done = withReplicaSet(done, await pass.write.update(replicaSets, next));
    if (from !== replicas) pass.events.record(done.deployment, scalingEvent(name, { from, to: replicas }));
  }
  return done;
}

/** The reported status shows whether the rollout is complete: before, an old one may still be needed for a rollback. */
async function forgetWhenComplete(rollout: Rollout, pass: Pass): Promise<void> {
  if (isComplete(rollout.deployment, rollout.deployment.status)) await forgetOldOnes(rollout, pass);
}

async function forgetOldOnes(rollout: Rollout, pass: Pass): Promise<void> {
  const forgotten = planForgetting(rollout);
  if (forgotten.length > 0) await mustBeCurrent(deployments, rollout.deployment, pass);
  for (const replicaSet of forgotten) {
    const { uid, resourceVersion } = replicaSet.metadata;
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      await pass.write.delete(replicaSets, keyOf(replicaSet), { preconditions });
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
  }
}

// ── report ──────────────────────────────────────────────────────────────────────────────────────────

/** The counts, without progress of a rollout. */
async function reportCounts(rollout: Rollout, pass: Pass): Promise<Outcome> {
  await writeStatus(rollout.deployment, observedStatus(rollout, pass.clock.now()), pass);
  return onChange;
}

async function reportProgress(rollout: Rollout, pass: Pass): Promise<Outcome> {
  const nowMs = pass.clock.now();
  const status = rolloutStatus(rollout, nowMs);
  await writeStatus(rollout.deployment, status, pass);
  const delayMs = progressCheckDelayMs(rollout.deployment, status, nowMs);
  return delayMs === undefined ? onChange : after(delayMs);
}

/** Writes only differences. The revision is an annotation that is written with the status. */
async function writeStatus(deployment: Deployment, status: DeploymentStatus, pass: Pass): Promise<Deployment> {
  const stored = pass.read.get(deployments, keyOf(deployment));
  const isSame = deepEqual(status, stored?.status ?? {}) && deepEqual(deployment.metadata.annotations, stored?.metadata.annotations);
  return isSame ? deployment : await pass.write.updateStatus(deployments, { ...deployment, status });
}
