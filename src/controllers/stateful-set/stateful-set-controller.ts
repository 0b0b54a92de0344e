/**
 * Keeps the Pods of a StatefulSet: each with a stable name and its own claims, created in order, deleted in reverse order, and replaced one
 * by one when the template changes. Each template that it has had is a ControllerRevision; Pods name theirs in a label.
 *
 * A reconciliation makes the steps that are possible now and reports what it observed. The result of a step (a Pod that becomes ready, or is
 * gone) triggers the next one; only `minReadySeconds` needs a timer. Not here: binding of claims (storage), DNS names (dns).
 */
import { controllerRevisions } from "../../api/apps/v1/controller-revision.ts";
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import type { AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ControllerRevision, StatefulSet, StatefulSetSpec } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { slowStart } from "../runtime/concurrent-writes.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { itself, keyOf } from "../runtime/keys.ts";
import { itsControllerOrAdopters, keepSelectors } from "../shared/adopters.ts";
import { claim } from "../shared/adoption.ts";
import { mustBeCurrent } from "../shared/must-be-current.ts";
import { nextAvailableInMs } from "../shared/replica-status.ts";
import { conditionsOf, reportStatus } from "../shared/report-status.ts";
import { claimRevisions, deleteRevisions, renumber, revisionOwners } from "../shared/revisions/revision-control.ts";
import { templateOf, textOf } from "../shared/revisions/revision-data.ts";
import { revisionOf, type SetRevision } from "./identity.ts";
import { isMember, ordinalOf } from "./ordinals.ts";
import { isParallel, planPods, type PodPlan } from "./plan.ts";
import { carryOut } from "./pod-steps.ts";
import { newRevision, planForgetting, planUpdateRevision } from "./revisions.ts";
import { forgetAvailability, recordAvailability } from "./stateful-set-metrics.ts";
import { isSameStatus, statefulSetStatus } from "./status.ts";
import { setOfDeletedPod, setsOfDeletedClaim } from "./waiting-for-names.ts";

/** Names tried for a new revision in one reconciliation. Two collisions of a 32-bit hash in one history are already improbable. */
const COLLISIONS_MAX = 20;
/** The server's default. */
const REVISION_HISTORY_LIMIT = 10;

const readSelector = keepSelectors(labelSelectorFromObject);
const selectorOf = ({ spec }: StatefulSet) => readSelector(spec?.selector);
const controllersOrAdopters = itsControllerOrAdopters(statefulSets, selectorOf);

export const statefulSetController = defineController({
  name: "statefulset-controller",
  aliases: ["statefulset"],
  account: "statefulset-controller",
  rules: [
    { apiGroups: ["apps"], resources: ["statefulsets"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["apps"], resources: ["statefulsets/status", "statefulsets/finalizers"], verbs: ["update"] },
    { apiGroups: ["apps"], resources: ["controllerrevisions"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: [""], resources: ["pods/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "list", "watch", "create", "update"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [
    watch(statefulSets, itself),
    watch(pods, function* (change, read) {
      yield* controllersOrAdopters(change, read);
      yield* setOfDeletedPod(change, read);
    }),
    watch(controllerRevisions, revisionOwners(statefulSets, selectorOf)),
    watch(persistentVolumeClaims, setsOfDeletedClaim),
  ],
  reconcile,
});

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const set = pass.read.get(statefulSets, key);
  const selector = set && selectorOf(set);
  if (set === undefined) forgetAvailability(key, pass.metrics);
  // If it was deleted, the garbage collector deletes its Pods.
  if (set?.spec === undefined || selector === undefined) return onChange;
  const owner = { ownerKind: statefulSets, selector, pass };
  const revisions = await claimRevisions(set, owner);
  const claimed = await claim({ owner: set, kind: pods, belongs: (pod) => isMember(set, pod), ...owner });
  const members = claimed.filter((pod) => ordinalOf(pod) !== undefined);
  const availability = { minReadySeconds: set.spec.minReadySeconds ?? 0, nowMs: pass.clock.now() };
  recordAvailability(set, members, availability, pass.metrics);
  if (set.metadata.deletionTimestamp !== undefined) return await reportTerminating(set, { members, availability }, pass);
  return await keepPods({ set, spec: set.spec, revisions, members, availability }, pass);
}

interface Observed {
  readonly set: StatefulSet;
  readonly spec: StatefulSetSpec;
  /** Oldest first. */
  readonly revisions: readonly ControllerRevision[];
  readonly members: readonly Pod[];
  readonly availability: AvailabilityRule;
}

async function keepPods({ set, spec, revisions, members, availability }: Observed, pass: Pass): Promise<Outcome> {
  const { update, collisionCount } = await updateRevision(set, spec, revisions, pass);
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  const claimOf = (name: string) => pass.read.get(persistentVolumeClaims, { namespace: set.metadata.namespace, name });
  const [currentRevision, newestRevision] = [setRevision(current, spec), setRevision(update, spec)];
  const plan = planPods({ set, current: currentRevision, update: newestRevision, pods: members, claimOf, availability });
  const { deletedForUpdate, failure } = await act(plan, set, pass);

  const names = { current: current.metadata.name, update: update.metadata.name };
  const status = statefulSetStatus({ set, pods: members, ...names, collisionCount, availability, deletedForUpdate });
  if (!isSameStatus(status, set.status)) await reportStatus(statefulSets, set, status, pass, conditionsOf);
  if (failure !== undefined) throw failure.error;
  await forgetRevisions(set, revisions, { ...names, ofPods: new Set(members.map(revisionOf)) }, pass);
  const nextMs = nextAvailableInMs(members, availability);
  return nextMs === undefined ? onChange : after(nextMs);
}

/** A revision that a user created may lack a template. */
function setRevision(revision: ControllerRevision, { template }: StatefulSetSpec): SetRevision {
  return { name: revision.metadata.name, template: templateOf(revision) ?? template };
}

/** Only its counts: it creates and deletes nothing any more. */
async function reportTerminating(
  set: StatefulSet,
  { members, availability }: Pick<Observed, "members" | "availability">,
  pass: Pass,
): Promise<Outcome> {
  const { currentRevision: current, updateRevision: update, collisionCount = 0 } = set.status ?? {};
  if (current === undefined || update === undefined) return onChange;
  const status = statefulSetStatus({ set, pods: members, current, update, collisionCount, availability, deletedForUpdate: 0 });
  if (!isSameStatus(status, set.status)) await reportStatus(statefulSets, set, status, pass, conditionsOf);
  return onChange;
}

// ── revisions ───────────────────────────────────────────────────────────────────────────────────────

interface UpdateRevision {
  readonly update: ControllerRevision;
  readonly collisionCount: number;
}

/** The revision of the set's template, created or renumbered if necessary. */
async function updateRevision(
  set: StatefulSet,
  spec: StatefulSetSpec,
  revisions: readonly ControllerRevision[],
  pass: Pass,
): Promise<UpdateRevision> {
  const { collisionCount = 0 } = set.status ?? {};
  const step = planUpdateRevision(spec, revisions);
  if (step.does === "use") return { update: step.revision, collisionCount };
  await mustBeCurrent(statefulSets, set, pass);
  if (step.does === "renumber") return { update: await renumber(step.revision, step.number, pass), collisionCount };
  return await createRevision(set, spec, { number: step.number, collisionCount }, pass);
}

async function createRevision(
  set: StatefulSet,
  { template }: StatefulSetSpec,
  { number, collisionCount }: { readonly number: number; readonly collisionCount: number },
  pass: Pass,
): Promise<UpdateRevision> {
  for (let count = collisionCount; count < collisionCount + COLLISIONS_MAX; count++) {
    const draft = newRevision(set, template, number, count);
    try {
      return { update: await pass.write.create(controllerRevisions, draft), collisionCount: count };
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
      const there = await pass.write.get(controllerRevisions, keyOf(draft));
      if (textOf(there) === textOf(draft)) return { update: there, collisionCount: count };
      pass.log.info("Name collision of a new ControllerRevision", { controllerRevision: draft.metadata.name, collisionCount: count + 1 });
    }
  }
  throw new Error(`Cannot create a ControllerRevision: ${COLLISIONS_MAX} names are in use; delete unused ControllerRevisions`);
}

async function forgetRevisions(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  live: Parameters<typeof planForgetting>[1],
  pass: Pass,
): Promise<void> {
  const forgotten = planForgetting(revisions, live, set.spec?.revisionHistoryLimit ?? REVISION_HISTORY_LIMIT);
  if (forgotten.length === 0) return;
  await mustBeCurrent(statefulSets, set, pass);
  await deleteRevisions(forgotten, pass);
}

// ── act ─────────────────────────────────────────────────────────────────────────────────────────────

interface Acted {
  readonly deletedForUpdate: number;
  /** Reported in the status before the retry. */
  readonly failure?: { readonly error: unknown };
}

async function act(plan: PodPlan, set: StatefulSet, pass: Pass): Promise<Acted> {
  if (plan.every((phase) => phase.length === 0)) return { deletedForUpdate: 0 };
  await mustBeCurrent(statefulSets, set, pass);
  let deletedForUpdate = 0;
  try {
    for (const phase of plan) {
      const waiting = phase.values();
      const next = async (): Promise<void> => {
        const { value: step } = waiting.next();
        if (step === undefined) return;
        await carryOut(step, set, pass);
        if (step.does === "delete" && step.because === "update") deletedForUpdate++;
      };
      if (isParallel(set)) await slowStart(phase.length, next);
      else for (const _ of phase) await next();
    }
    return { deletedForUpdate };
  } catch (error) {
    return isNamespaceTerminating(error) ? { deletedForUpdate } : { deletedForUpdate, failure: { error } };
  }
}
