/** The conditions that the kubelet owns, with upstream's order, reasons and messages. Conditions of other components are kept. */
import type { ContainerStatus, Pod, PodCondition } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { findCondition } from "../../../api/machinery/conditions.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { SandboxStatus } from "../../contracts/runtime.ts";
import { ALL_RESTARTING, isCleanedUp, isRestartAllDue, mayRestartAll } from "../plan/restart-all.ts";
import type { PodEviction } from "../../contracts/pod-machine.ts";
import type { Phase } from "./pod-phase.ts";

export const RESIZE_PENDING = "PodResizePending";
export const RESIZE_IN_PROGRESS = "PodResizeInProgress";

const OWN = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/** Present only while they apply. */
const OPTIONAL = [RESIZE_PENDING, RESIZE_IN_PROGRESS, ALL_RESTARTING];

export interface ConditionsView {
  readonly sandbox: SandboxStatus | undefined;
  readonly pod: Pod;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  readonly phase: Phase;
  /** Conditions of a resize. */
  readonly resizes: readonly PodCondition[];
  /** The Pod has a sandbox with a network. */
  readonly hasSandbox: boolean;
  readonly eviction?: PodEviction | undefined;
  readonly nowMs: number;
}

/** A condition without its transition time. */
interface Saying {
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

const TRUE: Saying = { status: "True" };
const FALSE: Saying = { status: "False" };

export function podConditions(view: ConditionsView): readonly PodCondition[] {
  const { pod, phase, hasSandbox } = view;
  const isTerminated = phase === "Succeeded" || phase === "Failed";
  const others = withDisruption(view);
  const containersReady = areContainersReady(view);
  const sayings: readonly Saying[] = [
    hasSandbox ? TRUE : FALSE,
    isInitialized(view),
    containersReady.status === "True" ? areGatesOpen(pod, others) : containersReady,
    containersReady,
    TRUE,
  ];
  return [
    ...others,
    ...(isTerminated ? [] : view.resizes),
    ...sayings.map((saying, index) => conditionOf(OWN[index] as string, saying, view)),
    ...(mayRestartAll(pod) ? [withoutGeneration(conditionOf(ALL_RESTARTING, areAllRestarting(view), view))] : []),
  ];
}

/** Conditions of other components: readiness gates, DisruptionTarget. */
export function othersConditions({ status }: Pod): readonly PodCondition[] {
  return status?.conditions?.filter(({ type }) => !OWN.includes(type) && !OPTIONAL.includes(type)) ?? [];
}

const DISRUPTION = "DisruptionTarget";

/** Conditions of other components, and that of a Pod that is evicted because the node is short of a resource. */
function withDisruption(view: ConditionsView): readonly PodCondition[] {
  const others = othersConditions(view.pod);
  if (view.eviction?.isDisruption !== true) return others;
  const saying: Saying = { status: "True", reason: "TerminationByKubelet", message: view.eviction.message };
  return [...others.filter(({ type }) => type !== DISRUPTION), conditionOf(DISRUPTION, saying, view)];
}

/** The transition time changes only with the status. */
function conditionOf(type: string, saying: Saying, { pod, nowMs }: ConditionsView): PodCondition {
  const before = findCondition(pod.status?.conditions, type);
  const isSame = before?.status === saying.status && before.lastTransitionTime !== undefined;
  const { generation } = pod.metadata;
  return {
    type,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...saying,
    lastTransitionTime: isSame ? before.lastTransitionTime : formatTime(nowMs),
  };
}

/** As upstream, which sets none for this condition. */
function withoutGeneration({ observedGeneration: _generation, ...condition }: PodCondition): PodCondition {
  return condition;
}

function areAllRestarting({ pod, sandbox, phase }: ConditionsView): Saying {
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  if (!isRestartAllDue({ pod, sandbox }) || isCleanedUp({ pod, sandbox })) return FALSE;
  return { status: "True", reason: "RestartAllContainersStarted", message: "container exited with restart policy rule" };
}

function areContainersReady({ pod, initStatuses, statuses, phase }: ConditionsView): Saying {
  const sidecars = (pod.spec?.initContainers ?? [])
    .filter(isSidecar)
    .map(({ name }) => initStatuses.find((status) => status.name === name));
  const regular = (pod.spec?.containers ?? []).map(({ name }) => statuses.find((status) => status.name === name));
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  const unready = [...sidecars, ...regular].flatMap((status) => (status === undefined || status.ready ? [] : [status.name]));
  if (unready.length === 0) return TRUE;
  return { status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

function areGatesOpen({ spec }: Pod, others: readonly PodCondition[]): Saying {
  const wrong = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = findCondition(others, conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === "True") return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  return wrong.length === 0 ? TRUE : { status: "False", reason: "ReadinessGatesNotReady", message: wrong.join(", ") };
}

function isInitialized({ pod, initStatuses, statuses, phase }: ConditionsView): Saying {
  if (phase === "Succeeded") return { status: "True", reason: "PodCompleted" };
  const containers = pod.spec?.initContainers ?? [];
  if (containers.length === 0 || hasRegularStarted(statuses)) return TRUE;
  const incomplete = containers.flatMap((container) => {
    const status = initStatuses.find(({ name }) => name === container.name);
    const isDone = isSidecar(container) ? status?.started === true : status?.ready === true;
    return isDone ? [] : [container.name];
  });
  // Once initialized, a Pod stays initialized.
  if (incomplete.length === 0 || findCondition(pod.status?.conditions, "Initialized")?.status === "True") return TRUE;
  return { status: "False", reason: "ContainersNotInitialized", message: `containers with incomplete status: [${incomplete.join(" ")}]` };
}

/** Has terminated before. */
function hasRegularStarted(statuses: readonly ContainerStatus[]): boolean {
  return statuses.some(({ state, lastState }) => {
    return state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;
  });
}
