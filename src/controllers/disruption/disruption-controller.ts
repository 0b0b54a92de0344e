/**
 * Maintains the status of every PodDisruptionBudget (budget-status.ts), and resets stale DisruptionTarget conditions (stale-target.ts). The
 * eviction subresource of the API server consumes the budget: both write the status with optimistic concurrency, so that one of them gets a
 * Conflict and retries.
 */
import { deployments } from "../../api/apps/v1/deployment.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import { disruptionTarget, DISRUPTION_TARGET } from "../../api/core/v1/pod/disruption-target.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { replicationControllers } from "../../api/core/v1/replication-controller.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/core/v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/generated/policy/v1.ts";
import { labelSelectorFromObject, type LabelSelector, type LabelSelectorObject } from "../../api/machinery/selectors/label-selector.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { podDisruptionBudgets } from "../../api/policy/v1/pod-disruption-budget.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { itself, keyOf, objectText } from "../runtime/keys.ts";
import { budgetStatus, countPods, countsByScale, disruptedOf, failedStatus, type Disrupted } from "./budget-status.ts";
import { expectedScale, UncountablePods, type ExpectedScale } from "./expected-scale.ts";
import { goSelectorText } from "../shared/go-selector-text.ts";
import { staleInMs } from "./stale-target.ts";

const POD = "pods";

export const disruptionController = defineController({
  name: "disruption-controller",
  aliases: ["disruption"],
  account: "disruption-controller",
  component: "controllermanager",
  rules: [
    { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["policy"], resources: ["poddisruptionbudgets/status"], verbs: ["update"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["update"] },
    { apiGroups: ["*"], resources: ["*/scale"], verbs: ["get"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [
    { kind: podDisruptionBudgets, keys: itself },
    { kind: pods, keys: keysOfPod },
    { kind: replicationControllers, keys: keysOfWorkload },
    { kind: replicaSets, keys: keysOfWorkload },
    { kind: deployments, keys: keysOfWorkload },
    { kind: statefulSets, keys: keysOfWorkload },
  ],
  reconcile: (key, pass) => (key.kind === POD ? lookAtPod(key, pass) : lookAtBudget(key, pass)),
});

// ── what wakes ──────────────────────────────────────────────────────────────────────────────────────

function* keysOfPod({ is, object, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  const budgets = budgetsOf(object.metadata.labels, object, read);
  yield* budgets.map(keyOf);
  const areLabelsChanged = is === "added" || !deepEqual(object.metadata.labels, previous?.metadata.labels);
  if (previous !== undefined && areLabelsChanged) yield* budgetsOf(previous.metadata.labels, object, read).map(keyOf);
  const isContested = budgets.length > 1 && areLabelsChanged;
  const isMarked = object.status?.conditions?.some(({ type, status }) => type === DISRUPTION_TARGET && status === "True") === true;
  if (is !== "deleted" && (isContested || isMarked)) yield { kind: POD, ...keyOf(object) };
}

interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: PodTemplateSpec };
}

/** Mostly Pods; but the expected number can change without them. */
function* keysOfWorkload({ is, object, previous }: Change<Workload>, read: Reader): Iterable<WorkKey> {
  if (is === "updated" && object.spec?.replicas === previous?.spec?.replicas) return;
  const budgets = budgetsOf(object.spec?.template?.metadata?.labels, object, read);
  yield* budgets.filter(({ spec }) => countsByScale(spec ?? {})).map(keyOf);
}

type Labels = Parameters<LabelSelector["matches"]>[0];

/** Ordered by name. */
function budgetsOf(labels: Labels, { metadata }: KubeObject, read: Reader): readonly PodDisruptionBudget[] {
  return read.list(podDisruptionBudgets, metadata.namespace).filter((budget) => selectorOf(budget)?.matches(labels) === true);
}

/** Cached while its object lives: every Pod change queries those of its namespace. */
const selectors = new WeakMap<LabelSelectorObject, LabelSelector>();

/** Undefined if invalid, which validation prevents. An empty one selects all, and a missing one nothing. */
function selectorOf({ spec }: PodDisruptionBudget): LabelSelector | undefined {
  const written = spec?.selector;
  if (written === undefined) return undefined;
  try {
    const selector = selectors.get(written) ?? labelSelectorFromObject(written);
    selectors.set(written, selector);
    return selector;
  } catch {
    return undefined;
  }
}

// ── one budget ──────────────────────────────────────────────────────────────────────────────────────

async function lookAtBudget(key: WorkKey, pass: Pass): Promise<Outcome> {
  const { read, clock } = pass;
  const budget = read.get(podDisruptionBudgets, key);
  if (budget === undefined) return onChange;
  const selector = selectorOf(budget);
  const covered = read.list(pods, key.namespace).filter(({ metadata }) => selector?.matches(metadata.labels) === true);
  if (covered.length === 0) emitEvent(budget, "Normal", "NoPods", "No matching pods found", pass);
  const expected = await scaleOf(budget, covered, pass);
  if (expected === undefined) return onChange;

  const nowMs = clock.now();
  const disrupted = disruptedOf(budget, covered, nowMs);
  emitPodEvents(budget, expected, disrupted, pass);
  await report(budget, budgetStatus(budget, countPods(budget, covered, expected.scale, disrupted), disrupted, nowMs), pass);
  return disrupted.nextMs === undefined ? onChange : after(disrupted.nextMs - nowMs);
}

/** Undefined if they cannot be counted until something changes; the budget then reports so and allows nothing. */
async function scaleOf(budget: PodDisruptionBudget, covered: readonly Pod[], pass: Pass): Promise<ExpectedScale | undefined> {
  if (!countsByScale(budget.spec ?? {})) return { scale: covered.length, unmanaged: [] };
  try {
    return await expectedScale(covered, pass);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    emitEvent(budget, "Warning", "CalculateExpectedPodCountFailed", `Failed to calculate the number of expected pods: ${message}`, pass);
    if (isReason(error, "Conflict")) throw error;
    await report(budget, failedStatus(budget, message, pass.clock.now()), pass);
    if (error instanceof UncountablePods) return undefined;
    throw error;
  }
}

function emitPodEvents(budget: PodDisruptionBudget, { unmanaged }: ExpectedScale, { overdue }: Disrupted, pass: Pass): void {
  if (unmanaged.length > 0) {
    const message =
      `Pods selected by this PodDisruptionBudget (selector: ${goSelectorText(budget.spec?.selector)}) were found to be unmanaged. ` +
      "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
      'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
    emitEvent(budget, "Warning", "UnmanagedPods", message, pass);
  }
  for (const pod of overdue) {
    emitEvent(pod, "Warning", "NotDeleted", `Pod was expected by PDB ${objectText(budget.metadata)} to be deleted but it wasn't`, pass);
  }
}

async function report(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus, { write }: Pass): Promise<void> {
  if (!deepEqual(budget.status, status)) await write.updateStatus(podDisruptionBudgets, { ...budget, status });
}

// ── one Pod ─────────────────────────────────────────────────────────────────────────────────────────

async function lookAtPod(key: WorkKey, pass: Pass): Promise<Outcome> {
  const { read, write, clock } = pass;
  const pod = read.get(pods, key);
  if (pod === undefined) return onChange;
  emitIfContested(pod, pass);

  const remainingMs = staleInMs(pod, clock.now());
  if (remainingMs === undefined) return onChange;
  if (remainingMs > 0) return after(remainingMs);
  const condition = disruptionTarget(pod, { status: "False" }, clock.now());
  if (condition === undefined) return onChange;
  const conditions = (pod.status?.conditions ?? []).map((old) => (old.type === DISRUPTION_TARGET ? condition : old));
  await write.updateStatus(pods, { ...pod, status: { ...pod.status, conditions } });
  return onChange;
}

/** Such a Pod cannot be evicted: the eviction subresource rejects it. */
function emitIfContested(pod: Pod, pass: Pass): void {
  const budgets = budgetsOf(pod.metadata.labels, pod, pass.read);
  const [first] = budgets;
  if (first === undefined || budgets.length < 2) return;
  const { namespace, name } = pod.metadata;
  const which = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.`;
  emitEvent(pod, "Warning", "MultiplePodDisruptionBudgets", `${which}  Chose "${first.metadata.name}" arbitrarily.`, pass);
}

function emitEvent(about: KubeObject, type: "Normal" | "Warning", reason: string, message: string, { events }: Pass): void {
  events.record(about, { type, reason, message });
}
