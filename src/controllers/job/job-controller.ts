/**
 * Runs the Pods of a Job until it completes or fails, and counts each Pod exactly once. A pass observes the Job and its Pods (job-state.ts),
 * decides whether it ends (ending.ts) and which Pods it needs (pod-plan.ts), acts, and counts (counting.ts). Pods hold a finalizer until they
 * are counted; those whose Job is gone are released in orphan-pods.ts. Not here: deletion of finished Jobs (controllers/ttl-after-finished).
 */
import { isFinished } from "../../api/batch/v1/job/conditions.ts";
import { jobs } from "../../api/batch/v1/job.ts";
import { isReady } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Job, JobStatus } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { labelSelectorFromObject, type LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { inTurns, slowStart } from "../runtime/concurrent-writes.ts";
import { after, defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { keyOf } from "../runtime/keys.ts";
import { itsControllerOrAdopters, keepSelectors } from "../shared/adopters.ts";
import { claim } from "../shared/adoption.ts";
import { createPod, deletePod } from "../shared/pod-control.ts";
import { nextBackoff, restoredBackoff } from "./backoff.ts";
import { countPods, hasUncounted, withCounted, type Counting } from "./counting.ts";
import { completionOf, deadlineRemainingMs, endingOf, type Ending } from "./ending.ts";
import { confirm, JobMemory } from "./job-memory.ts";
import {
  countExternalJob,
  countTerminatedTracked,
  recordCounted,
  recordCreations,
  recordFinished,
  recordPolicyActions,
  recordSync,
  type JobSync,
  type SyncAction,
} from "./job-metrics.ts";
import { TRACKING_FINALIZER } from "./job-pods.ts";
import { stateOf, uidOf, type JobState } from "./job-state.ts";
import { withAnnouncement, withOutcome, withPodCounts, withStartTime, withSuspension, type PodCounts } from "./job-status.ts";
import { isManagedElsewhere } from "./managed-by.ts";
import { keysOfLeftPods, keysOfOrphan, LEFT_PODS, ORPHAN, releaseLeftPods, releaseOrphan } from "./orphan-pods.ts";
import { indexedDraft, trackedDraft } from "./pod-drafts.ts";
import { planPods, type PodPlan } from "./pod-plan.ts";
import { releaseFinalizer } from "./release-finalizer.ts";

/** Minimum interval of passes that changes of Pods cause, per Job (upstream: a second). A Job of a thousand Pods would otherwise be counted a thousand times. */
const BATCH_MS = 200;
/** Key of a Job whose Pods or status changed: it only queues the Job itself, at once or when the batch is over. */
const BATCHED = "batched-job";
const COMPLETION_MODES: readonly (string | undefined)[] = [undefined, "NonIndexed", "Indexed"];

const readSelector = keepSelectors(labelSelectorFromObject);
const selectorOf = ({ spec }: Job): LabelSelector | undefined => readSelector(spec?.selector);
const itsJobOrAdopters = itsControllerOrAdopters(jobs, selectorOf);

export const jobController = defineController({
  name: "job-controller",
  aliases: ["job"],
  account: "job-controller",
  rules: [
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["batch"], resources: ["jobs/status", "jobs/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [watch(jobs, keysOfJob, { count: countExternalJob }), watch(pods, keysOfPod, { count: countTerminatedTracked })],
  start({ clock }) {
    const memory = new JobMemory(clock.now());
    return async (key, pass) => {
      if (key.kind === ORPHAN) return await releaseOrphan(key, pass);
      if (key.kind === LEFT_PODS) return await releaseLeftPods(key, pass);
      if (key.kind === BATCHED) return queueWhenDue(key, pass, memory);
      return await reconcileJob(key, pass, memory);
    };
  },
});

// ── what wakes ──────────────────────────────────────────────────────────────────────────────────────

function* keysOfJob(change: Change<Job>): Iterable<WorkKey> {
  const { object, previous } = change;
  yield* keysOfLeftPods(change);
  const isSpecUnchanged =
    previous !== undefined &&
    object.metadata.generation === previous.metadata.generation &&
    object.metadata.deletionTimestamp === previous.metadata.deletionTimestamp;
  yield isSpecUnchanged && change.is === "updated" ? { kind: BATCHED, ...keyOf(object) } : keyOf(object);
}

function* keysOfPod(change: Change<Pod>, read: Reader): Iterable<WorkKey> {
  for (const key of itsJobOrAdopters(change, read)) yield { ...key, kind: BATCHED };
  yield* keysOfOrphan(change, read);
}

/** The first change is reconciled at once, those within the interval together. */
function queueWhenDue({ kind: _batched, ...key }: WorkKey, { clock, wake }: Pass, memory: JobMemory): Outcome {
  const dueInMs = (memory.lastPassMs(key) ?? -Infinity) + BATCH_MS - clock.monotonic();
  if (dueInMs > 0) return after(dueInMs);
  wake(key);
  return onChange;
}

// ── one Job ─────────────────────────────────────────────────────────────────────────────────────────

async function reconcileJob(key: WorkKey, pass: Pass, memory: JobMemory): Promise<Outcome> {
  const job = pass.read.get(jobs, key);
  const selector = job && selectorOf(job);
  if (job === undefined || selector === undefined || isFinished(job.status ?? {}) || isManagedElsewhere(job)) {
    memory.forget(key);
    return onChange;
  }
  if (!COMPLETION_MODES.includes(job.spec?.completionMode)) {
    const message = "Skipped Job sync because completion mode is unknown";
    pass.events.record(job, { type: "Warning", reason: "UnknownCompletionMode", message });
    return onChange;
  }
  const startedMs = pass.clock.monotonic();
  const record = (action: SyncAction, result: JobSync["result"]): void =>
    recordSync(job, { action, result, durationMs: pass.clock.monotonic() - startedMs }, pass);
  try {
    const { outcome, action } = await keepJob(job, selector, pass, memory);
    record(action, "success");
    return outcome;
  } catch (error) {
    record("reconciling", "error");
    memory.doubt(key);
    throw error;
  }
}

interface Kept {
  readonly outcome: Outcome;
  readonly action: SyncAction;
}

async function keepJob(job: Job, selector: LabelSelector, pass: Pass, memory: JobMemory): Promise<Kept> {
  const nowMs = pass.clock.now();
  const record = memory.of(job, pass.clock.monotonic());
  if (!record.isConfirmed) {
    await confirm(job, selector, pass);
    record.isConfirmed = true;
    // The cache may have caught up meanwhile: what was read before is stale.
    if (pass.read.get(jobs, keyOf(job)) !== job) return { outcome: after(0), action: "reconciling" };
  }
  const claimed = await claim({ owner: job, ownerKind: jobs, kind: pods, selector, finalizers: [TRACKING_FINALIZER], pass });
  const status = withStartTime(job.status ?? {}, job.spec ?? { template: {} }, nowMs);
  const state = stateOf({ ...job, status }, claimed);
  const backoff = record.backoff === undefined ? restoredBackoff(claimed, state.spec) : nextBackoff(record.backoff, state);

  const ending = endingOf(state, nowMs);
  const plan = planOf(state, ending, () => planPods(state, backoff, nowMs));
  const acted = await act(plan, state, pass);
  const counts = countsAfter(state, acted);
  // A Pod that could not be deleted delays the end.
  const decided = ending === undefined ? completionOf(state, counts.active) : acted.failure === undefined ? ending : undefined;
  const next = suspended(withPodCounts(status, counts), state, decided ?? ending, pass);
  await count(job, countPods(state, decided, next), decided, pass);
  record.backoff = backoff;
  if (acted.failure !== undefined) throw acted.failure.error;
  return { outcome: outcomeOf(plan, deadlineRemainingMs({ spec: state.spec, status: next }, nowMs)), action: actionOf(acted) };
}

function actionOf({ created, deleted }: Acted): SyncAction {
  if (created > 0) return "pods_created";
  return deleted.length > 0 ? "pods_deleted" : "tracking";
}

/** When the Job ends, its active Pods are deleted; they keep their finalizer until they are counted. */
type JobPlan = PodPlan | { readonly does: "end"; readonly pods: readonly Pod[] };

function planOf(state: JobState, ending: Ending | undefined, plan: () => PodPlan): JobPlan {
  if (ending !== undefined) return { does: "end", pods: state.active };
  return state.job.metadata.deletionTimestamp === undefined ? plan() : { does: "nothing" };
}

interface Acted {
  readonly created: number;
  readonly deleted: readonly Pod[];
  /** The first one: reported in the status before the retry. */
  readonly failure?: { readonly error: unknown };
}

async function act(plan: JobPlan, state: JobState, pass: Pass): Promise<Acted> {
  switch (plan.does) {
    case "nothing":
    case "wait":
      return { created: 0, deleted: [] };
    case "create":
      return await createPods(plan, state, pass);
    case "delete":
      return await deletePods(plan.pods, async (pod) => {
        await releaseFinalizer(pod, pass.write);
        await deletePod(pod, state.job, pass);
      });
    case "end":
      return await deletePods(plan.pods, (pod) => deletePod(pod, state.job, pass));
  }
}

async function createPods(plan: Extract<PodPlan, { does: "create" }>, state: JobState, pass: Pass): Promise<Acted> {
  const { job, indexes } = state;
  const waiting = plan.indexes?.values();
  const draft = plan.indexes === undefined ? trackedDraft(job) : undefined;
  let created = 0;
  let failed = 0;
  const createNext = async (): Promise<void> => {
    const { value: index = 0 } = waiting?.next() ?? {};
    try {
      await createPod(draft ?? indexedDraft(job, index, indexes?.awaiting.get(index)), job, pass);
      created++;
    } catch (error) {
      if (!isNamespaceTerminating(error)) failed++;
      throw error;
    }
  };
  try {
    await slowStart(plan.count, createNext);
    return { created, deleted: [] };
  } catch (error) {
    return { created, deleted: [], ...(isNamespaceTerminating(error) ? {} : { failure: { error } }) };
  } finally {
    recordCreations(state, { succeeded: created, failed }, pass);
  }
}

async function deletePods(surplus: readonly Pod[], remove: (pod: Pod) => Promise<void>): Promise<Acted> {
  const deleted: Pod[] = [];
  try {
    await inTurns(surplus, async (pod) => {
      await remove(pod);
      deleted.push(pod);
    });
    return { created: 0, deleted };
  } catch (error) {
    return { created: 0, deleted, failure: { error } };
  }
}

function countsAfter({ active, ready, terminating }: JobState, { created, deleted }: Acted): PodCounts {
  return {
    active: active.length + created - deleted.length,
    ready: ready - deleted.filter(isReady).length,
    terminating: terminating + deleted.length,
  };
}

/** The Suspended condition follows `spec.suspend` while the Job is neither ending nor being deleted. */
function suspended(status: JobStatus, { job, spec }: JobState, ending: Ending | undefined, { clock, events }: Pass): JobStatus {
  if (ending !== undefined || job.metadata.deletionTimestamp !== undefined) return status;
  const changed = withSuspension(status, spec, clock.now());
  if (changed === undefined) return status;
  const [reason, message] = spec.suspend === true ? ["Suspended", "Job suspended"] : ["Resumed", "Job resumed"];
  events.record(job, { type: "Normal", reason, message });
  return changed;
}

/** The three steps of counting.ts, and the final condition when nothing is left to count. */
async function count(job: Job, counting: Counting, ending: Ending | undefined, pass: Pass): Promise<void> {
  const { clock, write } = pass;
  const announced = withAnnouncement(counting.status, ending, clock.now());
  const listed = await writeStatus(job, announced, pass);
  recordPolicyActions(counting.policyActions, pass);
  const released = await releaseAll(counting.release, pass);
  const tracked = new Set([...counting.tracked].filter((uid) => !released.uids.has(uid)));
  const counted = withCounted(announced, tracked);
  const isOver = !counting.isLimited && released.failure === undefined && !hasUncounted(counted) && counted.terminating === 0;
  if (ending === undefined || !isOver) {
    await writeStatus(listed, counted, pass);
    if (released.failure !== undefined) throw released.failure.error;
    return;
  }
  const finished = withOutcome(counted, ending, clock.now());
  await write.updateStatus(jobs, { ...listed, status: finished });
  recordCounted(listed, finished, pass);
  recordFinished(job, ending, pass);
  emitOutcome(listed, finished, ending, pass);
}

async function writeStatus(job: Job, status: JobStatus, pass: Pass): Promise<Job> {
  if (deepEqual(status, job.status ?? {})) return job;
  const written = await pass.write.updateStatus(jobs, { ...job, status });
  recordCounted(job, status, pass);
  return written;
}

interface Released {
  readonly uids: ReadonlySet<string>;
  readonly failure?: { readonly error: unknown };
}

async function releaseAll(release: readonly Pod[], { write }: Pass): Promise<Released> {
  const uids = new Set<string>();
  try {
    await inTurns(release, async (pod) => {
      await releaseFinalizer(pod, write);
      uids.add(uidOf(pod));
    });
    return { uids };
  } catch (error) {
    return { uids, failure: { error } };
  }
}

function emitOutcome(job: Job, { succeeded = 0 }: JobStatus, { outcome, reason, message }: Ending, { events }: Pass): void {
  if (outcome === "Failed") return events.record(job, { type: "Warning", reason, message });
  if (succeeded > (job.spec?.completions ?? Infinity)) {
    const surplus = "Too many succeeded pods running after completion count reached";
    events.record(job, { type: "Warning", reason: "TooManySucceededPods", message: surplus });
  }
  events.record(job, { type: "Normal", reason: "Completed", message: "Job completed" });
}

function outcomeOf(plan: JobPlan, deadlineMs: number | undefined): Outcome {
  const delays = [deadlineMs, "delayMs" in plan ? plan.delayMs : undefined].filter((delayMs) => delayMs !== undefined && delayMs > 0);
  return delays.length === 0 ? onChange : after(Math.min(...delays.map((delayMs) => delayMs ?? Infinity)));
}
