/**
 * A Pod in one table row, as `kubectl get pods` shows it: ready containers, status, restarts and the last one. The terms are upstream's
 * (printPod), because people know them and scripts match them.
 */
import type { Container, ContainerState, ContainerStatus, Pod, PodStatus } from "../../../generated/core/v1.ts";
import { findCondition, isConditionTrue } from "../../../machinery/conditions.ts";
import { isSidecar } from "./containers.ts";
import { specOf } from "./validation/pod.ts";

export interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly status: string;
  readonly restarts: number;
  /** When the most recently restarted container had ended; "" if none was, or the time is unknown. */
  readonly lastRestart: string;
}

/** Accumulated while iterating over the containers. */
interface Tally extends Restarts {
  ready: number;
  status: string;
}

interface Restarts {
  restarts: number;
  lastRestart: string;
}

export function summarizePod(pod: Pod): PodSummary {
  const status = pod.status ?? {};
  const initContainers = specOf(pod).initContainers ?? [];
  const total = (specOf(pod).containers ?? []).length + initContainers.filter(isSidecar).length;
  const tally: Tally = { ready: 0, status: statusOfPhase(status), restarts: 0, lastRestart: "" };
  const ofSidecars: Restarts = { restarts: 0, lastRestart: "" };
  const isInitializing = countInitContainers(status.initContainerStatuses ?? [], initContainers, tally, ofSidecars);
  if (!isInitializing || isConditionTrue(status.conditions, "Initialized")) {
    // Restarts of init containers no longer matter; those of sidecars still count.
    Object.assign(tally, ofSidecars);
    countContainers(status, tally);
  }
  return { ...tally, status: statusOfDeletion(pod) ?? tally.status, total };
}

function statusOfPhase({ phase, reason, conditions }: PodStatus): string {
  if (findCondition(conditions, "PodScheduled")?.reason === "SchedulingGated") return "SchedulingGated";
  return reason || (phase ?? "");
}

function statusOfDeletion({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status?.reason === "NodeLost") return "Unknown";
  return status?.phase === "Failed" || status?.phase === "Succeeded" ? undefined : "Terminating";
}

/** Iterates up to the first unfinished one, and returns whether there is one. */
function countInitContainers(
  statuses: readonly ContainerStatus[],
  containers: readonly Container[],
  tally: Tally,
  ofSidecars: Restarts,
): boolean {
  const sidecars = new Set(containers.filter(isSidecar).map(({ name }) => name));
  for (const [index, container] of statuses.entries()) {
    const isOfSidecar = sidecars.has(container.name);
    countRestarts(container, tally);
    if (isOfSidecar) countRestarts(container, ofSidecars);
    const { terminated, waiting } = container.state ?? {};
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue;
    if (isOfSidecar && container.started === true) {
      if (container.ready) tally.ready++;
      continue;
    }
    if (terminated !== undefined) tally.status = `Init:${wordOfEnd(terminated)}`;
    else if (waiting?.reason && waiting.reason !== "PodInitializing") tally.status = `Init:${waiting.reason}`;
    else tally.status = `Init:${index}/${containers.length}`;
    return true;
  }
  return false;
}

function countRestarts({ restartCount, lastState }: ContainerStatus, tally: Restarts): void {
  tally.restarts += restartCount ?? 0;
  const endedAt = lastState?.terminated?.finishedAt ?? "";
  // Timestamps have one format, so the later one is also the greater text.
  if (endedAt > tally.lastRestart) tally.lastRestart = endedAt;
}

/** From the last to the first: the first container's reason wins. */
function countContainers({ containerStatuses, conditions }: PodStatus, tally: Tally): void {
  let hasRunning = false;
  let failure = "";
  for (const container of (containerStatuses ?? []).toReversed()) {
    countRestarts(container, tally);
    const { waiting, terminated, running } = container.state ?? {};
    if (waiting?.reason) tally.status = waiting.reason;
    else if (terminated !== undefined) {
      tally.status = wordOfEnd(terminated);
      if ((terminated.exitCode ?? 0) !== 0) failure = tally.status;
    } else if (container.ready && running !== undefined) {
      hasRunning = true;
      tally.ready++;
    }
  }
  if (tally.status !== "Completed") return;
  if (hasRunning && isConditionTrue(conditions, "Ready")) tally.status = "Running";
  else if (failure !== "") tally.status = failure;
  else if (hasRunning) tally.status = "NotReady";
}

function wordOfEnd({ reason, signal, exitCode }: NonNullable<ContainerState["terminated"]>): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}
