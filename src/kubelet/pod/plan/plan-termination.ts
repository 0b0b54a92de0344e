/**
 * Plans the termination of a Pod: regular containers are stopped first, then sidecars in reverse order, then the sandbox. A Pod terminates
 * when it is deleted, completed, past its deadline, or no longer in the API. Exited containers are kept until the Pod has left the API.
 */
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { isTerminal, timestampMs } from "../../../api/core/v1/pod/readiness.ts";
import { GRACE_MIN_MS, stopGraceMs } from "../../shared/grace-period.ts";
import type { Planning } from "./planning.ts";
import type { PodView } from "./plan-contract.ts";
import { hasBegun } from "./plan-init.ts";
import { isRestartAllDue } from "./restart-all.ts";
import { shouldRestart } from "./restart-policy.ts";
import type { RuntimeContainer } from "../../contracts/runtime.ts";
import { isRunning, newestContainer } from "../containers/runtime-containers.ts";

const SECOND_MS = 1000;
/** Exit code of a container that was running and that the runtime no longer has: as if it had been killed. */
export const LOST_EXIT_CODE = 137;

/** Returns whether the Pod terminates; if so, the plan is complete. */
export function planEnd(view: PodView, planning: Planning, { isPastDeadline }: { readonly isPastDeadline: boolean }): boolean {
  const { pod, sandbox, isOrphaned } = view;
  const isDeleted = isOrphaned || pod.metadata.deletionTimestamp !== undefined;
  const isEvicted = view.memory.eviction !== undefined;
  if (!isDeleted && !isPastDeadline && !isEvicted && !isTerminal(pod) && !hasCompleted(view)) return false;
  const groups = stopGroups(view);
  if (groups.length > 0) planning.add({ do: "stop-containers", groups, ...graceLeft(view) });
  if (sandbox?.state === "ready") planning.add({ do: "stop-sandbox", id: sandbox.id });
  if (isOrphaned && sandbox !== undefined) planning.add({ do: "remove-sandbox", id: sandbox.id });
  if (groups.length === 0) planning.terminated();
  return true;
}

/**
 * Continues a termination that an earlier kubelet process began with the rest of its grace period, which ends at the deletion timestamp.
 */
function graceLeft({ pod, nowMs, memory, isResumed = false }: PodView): { readonly graceMs: number; readonly passedMs: number } {
  // As upstream: an evicted Pod must not write on for its own grace period.
  if (memory.eviction !== undefined) return { graceMs: Math.max(GRACE_MIN_MS, memory.eviction.graceMs ?? 0), passedMs: 0 };
  const graceMs = stopGraceMs(pod);
  const endMs = isResumed ? timestampMs(pod.metadata.deletionTimestamp) : undefined;
  if (endMs === undefined) return { graceMs, passedMs: 0 };
  const leftMs = Math.min(graceMs, Math.max(0, endMs - nowMs));
  return { graceMs: Math.max(GRACE_MIN_MS, leftMs), passedMs: graceMs - leftMs };
}

/** Schedules a sync for the deadline while the Pod runs. */
export function isExpiredAt(pod: Pod, nowMs: number, planning: Planning): boolean {
  const { spec, status } = pod;
  const startedAtMs = timestampMs(status?.startTime);
  if (spec?.activeDeadlineSeconds === undefined || startedAtMs === undefined || isTerminal(pod)) return false;
  const deadlineMs = startedAtMs + spec.activeDeadlineSeconds * SECOND_MS;
  if (nowMs >= deadlineMs) return true;
  planning.syncAt(deadlineMs);
  return false;
}

/** All regular containers have exited for good, or an init container has failed for good. */
function hasCompleted(view: PodView): boolean {
  const { pod, sandbox } = view;
  const { spec } = pod;
  // Containers that were removed for a restart have not failed.
  if (spec === undefined || isRestartAllDue(view)) return false;
  const hasFailedInit = (spec.initContainers ?? []).some((container) => {
    const state = newestContainer(sandbox, container.name)?.state;
    return state?.is === "exited" && state.exitCode !== 0 && !isSidecar(container) && !shouldRestart(container, spec, state.exitCode);
  });
  if (hasFailedInit && !hasBegun(view)) return true;
  return (spec.containers ?? []).every((container) => {
    const exitCode = exitCodeOf(container, view);
    return exitCode !== undefined && !shouldRestart(container, spec, exitCode);
  });
}

/**
 * Exit code of a container that has exited; undefined otherwise. For one that the runtime no longer has, the reported status counts: it
 * must not run twice.
 */
function exitCodeOf({ name }: Container, { pod, sandbox }: PodView): number | undefined {
  const known = newestContainer(sandbox, name)?.state;
  if (known !== undefined) return known.is === "exited" ? known.exitCode : undefined;
  const reported = pod.status?.containerStatuses?.find((status) => status.name === name)?.state;
  return reported?.terminated?.exitCode ?? (reported?.running === undefined ? undefined : LOST_EXIT_CODE);
}

/** Running containers, in the order in which they are stopped. */
export function stopGroups({ pod, sandbox }: PodView): readonly (readonly RuntimeContainer[])[] {
  const running = (sandbox?.containers ?? []).filter(isRunning);
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const first = running.filter(({ name }) => !sidecars.includes(name));
  const then = sidecars.toReversed().map((sidecar) => running.filter(({ name }) => name === sidecar));
  return [first, ...then].filter((group) => group.length > 0);
}
