/**
 * Keeps one Pod of a DaemonSet on every node that matches, and replaces Pods node by node when the template changes. Each template that it
 * has had is a ControllerRevision.
 *
 * A reconciliation first creates missing Pods and deletes surplus ones; if nothing was missing or surplus, it continues a rolling update. It then
 * reports the resulting state. Not here: binding Pods to their nodes (scheduler).
 */
import { controllerRevisions } from "../../api/apps/v1/controller-revision.ts";
import { daemonSets } from "../../api/apps/v1/daemon-set.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ControllerRevision, DaemonSet, DaemonSetSpec } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { labelSelectorFromObject, type LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { inTurns, slowStart } from "../runtime/concurrent-writes.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass, type Reconcile, type WorkKey } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { itself, keyOf } from "../runtime/keys.ts";
import { itsControllerOrAdopters, keepSelectors } from "../shared/adopters.ts";
import { claim } from "../shared/adoption.ts";
import { mustBeCurrent } from "../shared/must-be-current.ts";
import { createPod, deletePod } from "../shared/pod-control.ts";
import { nextAvailableInMs } from "../shared/replica-status.ts";
import { conditionsOf, reportStatus } from "../shared/report-status.ts";
import { claimRevisions, deleteRevisions, renumber, revisionOwners } from "../shared/revisions/revision-control.ts";
import { textOf } from "../shared/revisions/revision-data.ts";
import { currentTemplate, daemonPods, podsByNode, REVISION_HASH_LABEL } from "./daemon-pod.ts";
import { FailedPods } from "./failed-pods.ts";
import { hashOf, labeled, newRevision, planForgetting, planHistory, type HistoryPlan } from "./history.ts";
import { daemonSetsOfNode } from "./node-changes.ts";
import { planNodes, type DaemonObserved, type NodePlan } from "./node-plan.ts";
import { placementsOf } from "./placement.ts";
import { maySurge, planRollingUpdate, type RollingUpdatePlan } from "./rolling-update.ts";
import { daemonSetStatus, isSameStatus } from "./status.ts";

/** Maximum Pods created, and maximum Pods deleted, per reconciliation, as upstream's. The next one follows at once. */
const BURST_MAX = 250;
/**
 * A reconciliation looks at every Pod of the DaemonSet. If each of thousands of Pods that start caused one, their cost would grow with the
 * square of the number of nodes. So of large DaemonSets the changes of Pods are collected for this time per Pod: 0.2 s for 5,000.
 */
const COLLECTED_MS_PER_POD = 0.04;
/** Smaller ones are reconciled at once. */
const COLLECTED_FROM_PODS = 500;
/** The server's default. */
const REVISION_HISTORY_LIMIT = 10;

const readSelector = keepSelectors(labelSelectorFromObject);
const selectorOf = ({ spec }: DaemonSet) => readSelector(spec?.selector);

export const daemonSetController = defineController({
  name: "daemonset-controller",
  aliases: ["daemonset"],
  account: "daemon-set-controller",
  component: "daemonset-controller",
  rules: [
    { apiGroups: ["apps"], resources: ["daemonsets"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["apps"], resources: ["daemonsets/status", "daemonsets/finalizers"], verbs: ["update"] },
    { apiGroups: ["apps"], resources: ["controllerrevisions"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [
    watch(daemonSets, itself),
    watch(pods, itsControllerOrAdopters(daemonSets, selectorOf), { delayMs: podChangesDelayMs }),
    watch(controllerRevisions, revisionOwners(daemonSets, selectorOf)),
    watch(nodes, daemonSetsOfNode),
  ],
  /** Upstream's --concurrent-daemonset-syncs. */
  concurrency: 2,
  start: () => daemonSetReconciliation(new FailedPods()),
});

export function podChangesDelayMs(key: WorkKey, read: Reader): number {
  const podCount = read.get(daemonSets, key)?.status?.desiredNumberScheduled ?? 0;
  return podCount < COLLECTED_FROM_PODS ? 0 : podCount * COLLECTED_MS_PER_POD;
}

function daemonSetReconciliation(failed: FailedPods): Reconcile {
  return async (key, pass) => {
    const daemonSet = pass.read.get(daemonSets, key);
    // If it was deleted, the garbage collector deletes its Pods.
    if (daemonSet?.spec === undefined) return onChange;
    const { spec } = daemonSet;
    const selector = selectorOf(daemonSet);
    if (selector === undefined) return refuseSelector(daemonSet, pass);
    if (daemonSet.metadata.deletionTimestamp !== undefined) return onChange;
    return await keepPods({ daemonSet, spec, selector }, failed, pass);
  };
}

/** The API rejects such a selector; an old object with one would adopt every Pod. */
function refuseSelector(daemonSet: DaemonSet, { events }: Pass): Outcome {
  const message = "This daemon set is selecting all pods. A non-empty selector is required.";
  events.record(daemonSet, { type: "Warning", reason: "SelectingAll", message });
  return onChange;
}

interface Work {
  readonly daemonSet: DaemonSet;
  readonly spec: DaemonSetSpec;
  readonly selector: LabelSelector;
}

async function keepPods(work: Work, failed: FailedPods, pass: Pass): Promise<Outcome> {
  const { daemonSet, spec, selector } = work;
  const owner = { ownerKind: daemonSets, selector, pass };
  const revisions = await claimRevisions(daemonSet, owner);
  const owned = await claim({ owner: daemonSet, kind: pods, ...owner });
  const { hash, old } = await updateHistory(work, { revisions, owned }, pass);
  if (hash === undefined) return onChange;

  const seen = observe(work, owned, hash, pass);
  const nowMs = pass.clock.now();
  const failedDelay = (node: string) => failed.delayMs(daemonSet, node, nowMs);
  const plan = planNodes(seen, { maySurge: maySurge(daemonSet), failedDelay });
  reportEnded(plan, daemonSet, failed, pass);
  const next = isEmpty(plan) ? planRollingUpdate(daemonSet, seen) : plan;
  const failure = await act(next, work, hash, pass);
  if (failure === undefined) await forgetRevisions(work, { old, owned }, pass);

  const outcome = isEmpty(next) ? seen : observe(work, ownedNow(work, pass), hash, pass);
  const status = daemonSetStatus(daemonSet, outcome);
  if (!isSameStatus(status, daemonSet.status)) await reportStatus(daemonSets, daemonSet, status, pass, conditionsOf);
  if (failure !== undefined) throw failure.error;
  if (next.create.length > BURST_MAX || next.delete.length > BURST_MAX) return after(0);
  const delays = [plan.delayMs, spec.minReadySeconds === undefined ? undefined : nextAvailableInMs(owned, outcome.availability)];
  const delayMs = delays.reduce<number | undefined>((least, ms) => (ms === undefined ? least : Math.min(least ?? ms, ms)), undefined);
  return delayMs === undefined ? onChange : after(delayMs);
}

function observe({ daemonSet, spec }: Work, owned: readonly Pod[], hash: string, { read, clock }: Pass): DaemonObserved {
  return {
    nodes: read.list(nodes),
    pods: podsByNode(owned),
    placements: placementsOf(daemonSet),
    current: currentTemplate(daemonSet, hash),
    availability: { minReadySeconds: spec.minReadySeconds ?? 0, nowMs: clock.now() },
  };
}

/** The Pods after acting: own writes are visible at once. */
function ownedNow({ daemonSet, selector }: Work, { read }: Pass): readonly Pod[] {
  return read.controlledBy(pods, daemonSet).filter(({ metadata }) => selector.matches(metadata.labels));
}

function reportEnded({ ended }: NodePlan, daemonSet: DaemonSet, failed: FailedPods, { events, clock }: Pass): void {
  for (const { pod, node } of ended) {
    const what = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}, will try to`;
    if (pod.status?.phase === "Failed") {
      failed.replaced(daemonSet, node, clock.now());
      events.record(daemonSet, { type: "Warning", reason: "FailedDaemonPod", message: `Found failed ${what} kill it` });
    } else {
      events.record(daemonSet, { type: "Normal", reason: "SucceededDaemonPod", message: `Found succeeded ${what} delete it` });
    }
  }
}

// ── act ─────────────────────────────────────────────────────────────────────────────────────────────

function isEmpty(plan: RollingUpdatePlan): boolean {
  return plan.create.length === 0 && plan.delete.length === 0;
}

/** Resolves with the failure, if there was one: the status is reported before the retry. */
async function act(
  plan: RollingUpdatePlan,
  { daemonSet, spec }: Work,
  hash: string,
  pass: Pass,
): Promise<{ readonly error: unknown } | undefined> {
  if (isEmpty(plan)) return undefined;
  await mustBeCurrent(daemonSets, daemonSet, pass);
  const podFor = daemonPods(daemonSet, spec.template, currentTemplate(daemonSet, hash));
  const waiting = plan.create.slice(0, BURST_MAX);
  const names = waiting.values();
  const createNext = async (): Promise<void> => {
    const { value: node } = names.next();
    if (node !== undefined) await createPod(podFor(node), daemonSet, pass);
  };
  const creation = await settled(slowStart(waiting.length, createNext));
  const deletion = await settled(inTurns(plan.delete.slice(0, BURST_MAX), (pod) => deletePod(pod, daemonSet, pass)));
  return creation ?? deletion;
}

/** Undefined if it succeeded, or the namespace is terminating, this DaemonSet included. */
async function settled(work: Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return isNamespaceTerminating(error) ? undefined : { error };
  }
}

// ── history ─────────────────────────────────────────────────────────────────────────────────────────

interface History {
  /** Hash label of the current revision; undefined if its name is taken: the next reconciliation tries another one. */
  readonly hash: string | undefined;
  readonly old: readonly ControllerRevision[];
}

interface Owned {
  readonly revisions: readonly ControllerRevision[];
  readonly owned: readonly Pod[];
}

/** The revision of the DaemonSet's template, created, renumbered or freed of duplicates if necessary. */
async function updateHistory(work: Work, { revisions, owned }: Owned, pass: Pass): Promise<History> {
  const { daemonSet, spec } = work;
  const plan = planHistory(spec.template, await labelAll(revisions, pass));
  const { current, duplicates, old, number } = plan;
  const isDone = current !== undefined && duplicates.length === 0 && current.revision >= number;
  if (isDone) return { hash: hashOf(current), old };
  await mustBeCurrent(daemonSets, daemonSet, pass);
  if (current === undefined) return { hash: await createRevision(work, number, pass), old };
  await removeDuplicates(current, plan, owned, pass);
  if (current.revision < number) await renumber(current, number, pass);
  return { hash: hashOf(current), old };
}

async function labelAll(revisions: readonly ControllerRevision[], { write }: Pass): Promise<readonly ControllerRevision[]> {
  const all: ControllerRevision[] = [];
  for (const revision of revisions) {
    const next = labeled(revision);
    all.push(next === revision ? revision : await write.update(controllerRevisions, next));
  }
  return all;
}

/** Resolves with its hash; undefined if something else has its name. */
async function createRevision({ daemonSet, spec }: Work, number: number, pass: Pass): Promise<string | undefined> {
  const draft = newRevision(daemonSet, spec.template, number);
  try {
    return hashOf(await pass.write.create(controllerRevisions, draft));
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
    const there = await pass.write.get(controllerRevisions, keyOf(draft));
    if (textOf(there) === textOf(draft)) return hashOf(there);
  }
  const collisionCount = (daemonSet.status?.collisionCount ?? 0) + 1;
  pass.log.info("Name collision of a new ControllerRevision", { controllerRevision: draft.metadata.name, collisionCount });
  // At the version that was read: a stale count is not increased.
  const status = { ...(daemonSet.status ?? NO_STATUS), collisionCount };
  await pass.write.updateStatus(daemonSets, { ...daemonSet, status });
  return undefined;
}

const NO_STATUS = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };

/** Their Pods first get the label of the one that is kept: otherwise they would count as old, and be replaced. */
async function removeDuplicates(
  current: ControllerRevision,
  { duplicates }: HistoryPlan,
  owned: readonly Pod[],
  pass: Pass,
): Promise<void> {
  if (duplicates.length === 0) return;
  const value = { metadata: { labels: { [REVISION_HASH_LABEL]: hashOf(current) } } };
  const hashes = new Set(duplicates.map(hashOf));
  const mislabeled = owned.filter((pod) => hashes.has(hashOf(pod)) && hashOf(pod) !== hashOf(current));
  await inTurns(mislabeled, (pod) => pass.write.patch(pods, keyOf(pod), { type: "merge", value }));
  await deleteRevisions(duplicates, pass);
}

async function forgetRevisions(
  { daemonSet, spec }: Work,
  { old, owned }: { readonly old: readonly ControllerRevision[]; readonly owned: readonly Pod[] },
  pass: Pass,
): Promise<void> {
  const liveHashes = new Set(owned.map(hashOf));
  const forgotten = planForgetting(old, { liveHashes, limit: spec.revisionHistoryLimit ?? REVISION_HISTORY_LIMIT });
  if (forgotten.length === 0) return;
  await mustBeCurrent(daemonSets, daemonSet, pass);
  await deleteRevisions(forgotten, pass);
}
