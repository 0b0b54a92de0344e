/** The phase of a Pod, from the states of its containers. Follows upstream's getPhase. */
import type { Container, ContainerStateTerminated, ContainerStatus, Pod, PodSpec, PodStatus } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { RESTARTING_ALL } from "../plan/restart-all.ts";
import { shouldRestart } from "../plan/restart-policy.ts";

export type Phase = NonNullable<PodStatus["phase"]>;

export interface PhaseView {
  readonly pod: Pod;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** Nothing is restarted any more, whatever the restart policy is. */
  readonly isTerminated: boolean;
  /** A regular container was created: restarted sidecars do not reset the phase. */
  readonly hasBegun: boolean;
}

interface Tally {
  running: number;
  waiting: number;
  unknown: number;
  stopped: number;
  stoppedForGood: number;
  succeeded: number;
}

export function phaseOf({ pod, initStatuses, statuses, isTerminated, hasBegun }: PhaseView): Phase {
  const initial = initialization(pod, initStatuses);
  if (initial === "failed") return "Failed";
  const tally: Tally = { running: 0, waiting: 0, unknown: 0, stopped: 0, stoppedForGood: 0, succeeded: 0 };
  const areSidecarsPending = countSidecars(pod, initStatuses, tally);
  for (const container of pod.spec?.containers ?? []) countRegular(pod, container, statusNamed(statuses, container.name), tally);
  if (initial === "pending" || (areSidecarsPending && !hasBegun) || tally.waiting > 0 || tally.unknown > 0) return "Pending";
  if (tally.running > 0) return "Running";
  if (tally.stopped === 0) return "Pending";
  if (!isTerminated && tally.stopped !== tally.stoppedForGood) return "Running";
  return tally.stopped === tally.succeeded ? "Succeeded" : "Failed";
}

function statusNamed(statuses: readonly ContainerStatus[], wanted: string): ContainerStatus | undefined {
  return statuses.find(({ name }) => name === wanted);
}

/** Counts init containers that terminate. */
function initialization({ spec }: Pod, statuses: readonly ContainerStatus[]): "done" | "pending" | "failed" {
  let answer: "done" | "pending" = "done";
  for (const container of spec?.initContainers ?? []) {
    if (isSidecar(container) || spec === undefined) continue;
    const { state, lastState } = statusNamed(statuses, container.name) ?? {};
    const ended = state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated);
    if (ended === undefined) answer = "pending";
    else if (ended.exitCode !== 0 && !isRestarted(container, spec, ended)) return "failed";
  }
  return answer;
}

/** Whether a container has not started yet. Terminated ones are ignored. */
function countSidecars({ spec }: Pod, statuses: readonly ContainerStatus[], tally: Tally): boolean {
  let arePending = false;
  for (const container of spec?.initContainers ?? []) {
    if (!isSidecar(container)) continue;
    const { state, lastState, started } = statusNamed(statuses, container.name) ?? {};
    if (state?.running !== undefined) {
      tally.running++;
      if (started !== true) arePending = true;
    } else if (state?.terminated === undefined && lastState?.terminated === undefined) {
      arePending = true;
      tally[state?.waiting === undefined ? "unknown" : "waiting"]++;
    }
  }
  return arePending;
}

function countRegular({ spec }: Pod, container: Container, status: ContainerStatus | undefined, tally: Tally): void {
  const { state, lastState } = status ?? {};
  const ended = state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated);
  if (state?.running !== undefined) tally.running++;
  else if (ended !== undefined && spec !== undefined) {
    tally.stopped++;
    if (!isRestarted(container, spec, ended)) tally.stoppedForGood++;
    if (state?.terminated?.exitCode === 0) tally.succeeded++;
  } else tally[state?.waiting === undefined ? "unknown" : "waiting"]++;
}

/** A container that was removed for a restart of all containers runs again, whatever its policy is. */
function isRestarted(container: Container, spec: PodSpec, { exitCode, reason }: ContainerStateTerminated): boolean {
  return reason === RESTARTING_ALL || shouldRestart(container, spec, exitCode);
}
