/**
 * Sets the number of replicas of a workload by its metrics, every 15 s per HorizontalPodAutoscaler. The decision is pure
 * (replica-decision.ts); recommendations and changes of the last hour are kept in memory, and lost with the process: stabilization windows
 * then begin again, as upstream. Without a HorizontalPodAutoscaler nothing runs. Not here: measuring (the APIs of metric-readings.ts).
 */
import { horizontalPodAutoscalers } from "../../api/autoscaling/horizontal-pod-autoscaler.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Scale } from "../../api/generated/autoscaling/v1.ts";
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus } from "../../api/generated/autoscaling/v2.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { parseLabelSelector, type LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { deepEqual } from "../../base/deep.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../runtime/controller.ts";
import { keyOf, keyText } from "../runtime/keys.ts";
import { messageOf } from "../shared/pod-control.ts";
import {
  recordAutoscalers,
  recordComputation,
  recordDesired,
  recordReconciliation,
  type ErrorLabel,
  type ReconciliationResult,
} from "./autoscaler-metrics.ts";
import { proposalOf, type MetricContext } from "./metric-proposal.ts";
import { decideByMetrics, decideWithoutMetrics, withVerdict, type Decision, type DecisionInput } from "./replica-decision.ts";
import { InvalidTarget, ScaleTargets } from "./scale-target.ts";
import { newHistory, withChange, type History, type Verdict } from "./scaling-limits.ts";
import { podsSelectedBy, SelectorUses } from "./selector-uses.ts";
import { DEFAULT_SETTINGS, type HorizontalPodAutoscalerSettings } from "./settings.ts";

export function horizontalPodAutoscalerController(given: Partial<HorizontalPodAutoscalerSettings> = {}): Controller {
  const settings = { ...DEFAULT_SETTINGS, ...given };
  return defineController({
    name: "horizontal-pod-autoscaler-controller",
    aliases: ["horizontalpodautoscaling"],
    account: "horizontal-pod-autoscaler",
    rules: [
      { apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers/status"], verbs: ["update"] },
      { apiGroups: ["*"], resources: ["*/scale"], verbs: ["get", "update"] },
      { apiGroups: ["metrics.k8s.io"], resources: ["pods"], verbs: ["list"] },
      { apiGroups: ["custom.metrics.k8s.io"], resources: ["*"], verbs: ["get"] },
      { apiGroups: ["external.metrics.k8s.io"], resources: ["*"], verbs: ["list"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    // Its own status changes with every measurement and is no reason to measure again.
    watches: [watch(horizontalPodAutoscalers, unlessStatusOnly), watch(pods, () => [])],
    start() {
      const state: State = { settings, targets: new ScaleTargets(), uses: new SelectorUses(), histories: new Map(), known: new Set() };
      return (key, pass) => reconcile(key, pass, state);
    },
  });
}

/** State that may be lost at any time. */
interface State {
  readonly settings: HorizontalPodAutoscalerSettings;
  readonly targets: ScaleTargets;
  readonly uses: SelectorUses;
  /** By key; an entry is removed with its object. */
  readonly histories: Map<string, History>;
  /** Keys of the autoscalers that exist. */
  readonly known: Set<string>;
}

function* unlessStatusOnly({ is, object, previous }: Change<HorizontalPodAutoscaler>): Iterable<WorkKey> {
  if (is !== "updated" || !deepEqual(object.spec, previous?.spec) || object.metadata.uid !== previous?.metadata.uid) yield keyOf(object);
}

async function reconcile(key: WorkKey, pass: Pass, state: State): Promise<Outcome> {
  const autoscaler = pass.read.get(horizontalPodAutoscalers, key);
  if (autoscaler === undefined) state.known.delete(keyText(key));
  else state.known.add(keyText(key));
  recordAutoscalers(state.known.size, pass.metrics);
  if (autoscaler === undefined) {
    recordDesired(key, undefined, pass.metrics);
    state.histories.delete(keyText(key));
    state.uses.remove(key);
    return onChange;
  }
  const startedMs = pass.clock.monotonic();
  try {
    recordReconciliation(await scaleOnce(autoscaler, pass, state), startedMs, pass);
  } catch (error) {
    recordReconciliation({ current: 0, desired: 0, error: "internal" }, startedMs, pass);
    throw error;
  }
  return after(state.settings.syncPeriodMs);
}

async function scaleOnce(autoscaler: HorizontalPodAutoscaler, pass: Pass, state: State): Promise<ReconciliationResult> {
  const { clock, events } = pass;
  const { status } = autoscaler;
  const scale = await scaleOf(autoscaler, pass, state);
  if ("problem" in scale) {
    events.record(autoscaler, { type: "Warning", reason: "FailedGetScale", message: scale.problem });
    const message = `the HPA controller was unable to get the target's current scale: ${scale.problem}`;
    const verdict: Verdict = { status: "False", reason: "FailedGetScale", message };
    const conditions = withVerdict(status?.conditions, "AbleToScale", verdict, clock.now());
    await report(autoscaler, { ...status, desiredReplicas: status?.desiredReplicas ?? 0, conditions }, pass);
    return { current: 0, desired: 0, error: scale.error };
  }
  const decision = await decide(autoscaler, scale, pass, state);
  const current = scale.spec?.replicas ?? 0;
  if (decision.is === "failed") {
    events.record(autoscaler, { type: "Warning", reason: "FailedComputeMetricsReplicas", message: decision.message });
    const desired = status?.desiredReplicas ?? 0;
    await report(autoscaler, statusOf(autoscaler, { ...decision, current, desired }), pass);
    return { current, desired: current, error: "internal" };
  }
  state.histories.set(keyText(keyOf(autoscaler)), decision.history);
  if (decision.replicas === current) {
    recordDesired(keyOf(autoscaler), current, pass.metrics);
    await report(autoscaler, statusOf(autoscaler, { ...decision, current, desired: current }), pass);
  } else await rescale(autoscaler, { scale, decision, current }, pass, state);
  return { current, desired: decision.replicas, error: "none" };
}

interface NoScale {
  readonly problem: string;
  readonly error: ErrorLabel;
}

/** The target's scale, or why it is unknown. */
async function scaleOf(autoscaler: HorizontalPodAutoscaler, { write, signal }: Pass, { targets }: State): Promise<Scale | NoScale> {
  try {
    return await targets.get(write, autoscaler.metadata.namespace ?? "", autoscaler.spec.scaleTargetRef);
  } catch (error) {
    if (signal.aborted) throw error;
    return { problem: messageOf(error), error: error instanceof InvalidTarget ? "spec" : "internal" };
  }
}

// ── decide ──────────────────────────────────────────────────────────────────────────────────────────

async function decide(autoscaler: HorizontalPodAutoscaler, scale: Scale, pass: Pass, state: State): Promise<Decision> {
  const nowMs = pass.clock.now();
  const current = scale.spec?.replicas ?? 0;
  const able: Verdict = {
    status: "True",
    reason: "SucceededGetScale",
    message: "the HPA controller was able to get the target's current scale",
  };
  const input: DecisionInput = {
    autoscaler,
    conditions: withVerdict(autoscaler.status?.conditions, "AbleToScale", able, nowMs),
    current,
    history: state.histories.get(keyText(keyOf(autoscaler))) ?? newHistory(current, nowMs),
    downscaleStabilizationMs: state.settings.downscaleStabilizationMs,
    nowMs,
  };
  const simple = decideWithoutMetrics(input);
  if (simple !== undefined) return simple;
  const selected = selectedPods(autoscaler, scale.status?.selector ?? "", pass, state);
  if (selected.is === "refused") {
    pass.events.record(autoscaler, { type: "Warning", reason: selected.event, message: selected.message });
    const verdict: Verdict = { status: "False", reason: selected.reason, message: selected.why };
    return {
      is: "failed",
      message: selected.message,
      conditions: withVerdict(input.conditions, "ScalingActive", verdict, nowMs),
      metrics: [],
    };
  }
  const results = [];
  const context: MetricContext = {
    client: pass.write,
    targets: state.targets,
    autoscaler,
    specReplicas: current,
    statusReplicas: scale.status?.replicas ?? 0,
    selector: scale.status?.selector ?? "",
    pods: selected.pods,
    settings: state.settings,
    nowMs,
  };
  for (const metric of autoscaler.spec.metrics ?? []) {
    const startedMs = pass.clock.monotonic();
    const result = await proposalOf(metric, context);
    recordComputation(result, { type: metric.type, current, startedMs }, pass);
    if (result.is === "failed")
      pass.events.record(autoscaler, { type: "Warning", reason: result.failure.reason, message: result.failure.message });
    results.push(result);
  }
  // Reading metrics takes time: the decision is about the present.
  return decideByMetrics({ ...input, nowMs: pass.clock.now() }, results);
}

type SelectedPods =
  | { readonly is: "selected"; readonly pods: readonly Pod[] }
  /** `event` and `message` are those of the event, `reason` and `why` those of the condition. */
  | { readonly is: "refused"; readonly event: string; readonly message: string; readonly reason: string; readonly why: string };

/** The Pods of the target, unless another autoscaler has some of them, too. */
function selectedPods(autoscaler: HorizontalPodAutoscaler, text: string, { read }: Pass, { uses }: State): SelectedPods {
  if (text === "") {
    const why = "the HPA target's scale is missing a selector";
    return { is: "refused", event: "SelectorRequired", message: "selector is required", reason: "InvalidSelector", why };
  }
  let selector: LabelSelector;
  try {
    selector = parseLabelSelector(text);
  } catch (error) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
    return { is: "refused", event: "InvalidSelector", message, reason: "InvalidSelector", why: message };
  }
  const { namespace } = autoscaler.metadata;
  const found = podsSelectedBy(selector, namespace ?? "", read);
  uses.set(keyOf(autoscaler), selector);
  const users = uses.of(namespace ?? "", found);
  if (users.length < 2) return { is: "selected", pods: found };
  const names = users.map((name) => `{${name} ${namespace}}`).join(" ");
  const message = `pods by selector ${text} are controlled by multiple HPAs: [${names}]`;
  return { is: "refused", event: "AmbiguousSelector", message, reason: "AmbiguousSelector", why: message };
}

// ── act ─────────────────────────────────────────────────────────────────────────────────────────────

interface Rescale {
  readonly scale: Scale;
  readonly decision: Extract<Decision, { readonly is: "decided" }>;
  readonly current: number;
}

async function rescale(
  autoscaler: HorizontalPodAutoscaler,
  { scale, decision, current }: Rescale,
  pass: Pass,
  state: State,
): Promise<void> {
  const { write, events, clock, log } = pass;
  const { replicas, reason } = decision;
  try {
    await state.targets.set(write, autoscaler.spec.scaleTargetRef, scale, replicas);
  } catch (error) {
    // Another writer was first: the scale is read again.
    if (isReason(error, "Conflict") || pass.signal.aborted) throw error;
    const problem = messageOf(error);
    events.record(autoscaler, {
      type: "Warning",
      reason: "FailedRescale",
      message: `New size: ${replicas}; reason: ${reason}; error: ${problem}`,
    });
    const message = `the HPA controller was unable to update the target scale: ${problem}`;
    const conditions = withVerdict(
      decision.conditions,
      "AbleToScale",
      { status: "False", reason: "FailedUpdateScale", message },
      clock.now(),
    );
    const desired = autoscaler.status?.desiredReplicas ?? 0;
    return report(autoscaler, statusOf(autoscaler, { ...decision, conditions, current, desired }), pass);
  }
  events.record(autoscaler, { type: "Normal", reason: "SuccessfulRescale", message: `New size: ${replicas}; reason: ${reason}` });
  log.info("Scaled", { target: autoscaler.spec.scaleTargetRef.name, from: current, to: replicas, reason });
  recordDesired(keyOf(autoscaler), replicas, pass.metrics);
  const nowMs = clock.now();
  if (autoscaler.spec.behavior !== undefined) {
    const key = keyText(keyOf(autoscaler));
    state.histories.set(key, withChange(decision.history, { from: current, to: replicas }, nowMs));
  }
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  const conditions = withVerdict(decision.conditions, "AbleToScale", { status: "True", reason: "SucceededRescale", message }, nowMs);
  const status = statusOf(autoscaler, { ...decision, conditions, current, desired: replicas });
  return report(autoscaler, { ...status, lastScaleTime: formatTime(nowMs) }, pass);
}

// ── report ──────────────────────────────────────────────────────────────────────────────────────────

interface Seen extends Pick<Decision, "conditions" | "metrics"> {
  readonly current: number;
  readonly desired: number;
}

function statusOf({ status }: HorizontalPodAutoscaler, { current, desired, conditions, metrics }: Seen): HorizontalPodAutoscalerStatus {
  return {
    ...(status?.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
    ...(status?.lastScaleTime === undefined ? {} : { lastScaleTime: status.lastScaleTime }),
    currentReplicas: current,
    desiredReplicas: desired,
    ...(metrics.length === 0 ? {} : { currentMetrics: metrics }),
    conditions,
  };
}

/** Writes only differences. */
async function report(autoscaler: HorizontalPodAutoscaler, status: HorizontalPodAutoscalerStatus, { write }: Pass): Promise<void> {
  if (!deepEqual(comparable(status), comparable(autoscaler.status)))
    await write.updateStatus(horizontalPodAutoscalers, { ...autoscaler, status });
}

/** The server always writes the metrics and omits zeros. */
function comparable(status: HorizontalPodAutoscalerStatus | undefined): object {
  const { currentReplicas = 0, currentMetrics, ...rest } = status ?? { desiredReplicas: 0 };
  return { ...rest, currentReplicas, currentMetrics: currentMetrics ?? [] };
}
