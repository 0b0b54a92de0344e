/**
 * When a Pod ends on its node, and how: its regular containers are asked to end first, then its sidecars, the last first; then its place
 * goes. It ends when it is deleted, over by itself, past its deadline, or no more in the API. What ended stays to be looked at until the
 * Pod has left the API.
 */
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { isTerminal, momentMs } from "../../../api/core/v1/pod/readiness.ts";
import type { Planning } from "./planning.ts";
import type { PodView } from "./pod-plan.ts";
import { hasBegun } from "./plan-init.ts";
import { shouldRestart } from "./restart-policy.ts";
import type { RuntimeContainer } from "../../contracts/runtime.ts";
import { isRunning, newestContainer } from "../containers/runtime-containers.ts";

const SECOND_MS = 1000;
/** Upstream's: nobody is killed without having been asked. */
export const GRACE_MIN_MS = 2 * SECOND_MS;
const GRACE_DEFAULT_SECONDS = 30;
/** Of what was running and is nowhere any more: as if it had been killed. */
export const LOST_EXIT_CODE = 137;

/** Whether it ends: then all that is to be done is planned. */
export function planEnd(view: PodView, planning: Planning, { isPastDeadline }: { readonly isPastDeadline: boolean }): boolean {
  const { pod, sandbox, isGone } = view;
  const isDeleted = isGone || pod.metadata.deletionTimestamp !== undefined;
  if (!isDeleted && !isPastDeadline && !isTerminal(pod) && !isOverByItself(view)) return false;
  const groups = stopGroups(view);
  if (groups.length > 0) planning.add({ do: "stop-containers", groups, ...graceLeft(view) });
  if (sandbox?.state === "ready") planning.add({ do: "stop-sandbox", id: sandbox.id });
  if (isGone && sandbox !== undefined) planning.add({ do: "remove-sandbox", id: sandbox.id });
  if (groups.length === 0) planning.over();
  return true;
}

export function stopGraceMs({ metadata, spec }: Pod): number {
  const seconds = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? GRACE_DEFAULT_SECONDS;
  return Math.max(GRACE_MIN_MS, seconds * SECOND_MS);
}

/** What another kubelet has begun goes on: of its grace, what is left. A deletion's moment is the end of the grace. */
function graceLeft({ pod, nowMs, isResumed = false }: PodView): { readonly graceMs: number; readonly passedMs: number } {
  const graceMs = stopGraceMs(pod);
  const endMs = isResumed ? momentMs(pod.metadata.deletionTimestamp) : undefined;
  if (endMs === undefined) return { graceMs, passedMs: 0 };
  const leftMs = Math.min(graceMs, Math.max(0, endMs - nowMs));
  return { graceMs: Math.max(GRACE_MIN_MS, leftMs), passedMs: graceMs - leftMs };
}

/** Looks again when the deadline comes, as long as the Pod runs. */
export function isExpiredAt(pod: Pod, nowMs: number, planning: Planning): boolean {
  const { spec, status } = pod;
  const startedAtMs = momentMs(status?.startTime);
  if (spec?.activeDeadlineSeconds === undefined || startedAtMs === undefined || isTerminal(pod)) return false;
  const deadlineMs = startedAtMs + spec.activeDeadlineSeconds * SECOND_MS;
  if (nowMs >= deadlineMs) return true;
  planning.lookAgain(deadlineMs);
  return false;
}

/** All regular containers have ended for good, or an init container has failed for good. */
function isOverByItself(view: PodView): boolean {
  const { pod, sandbox } = view;
  const { spec } = pod;
  if (spec === undefined) return false;
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

/** Of one that has ended; undefined of any other. Of what the runtime has forgotten, what was told counts: it must not run twice. */
function exitCodeOf({ name }: Container, { pod, sandbox }: PodView): number | undefined {
  const known = newestContainer(sandbox, name)?.state;
  if (known !== undefined) return known.is === "exited" ? known.exitCode : undefined;
  const told = pod.status?.containerStatuses?.find((status) => status.name === name)?.state;
  return told?.terminated?.exitCode ?? (told?.running === undefined ? undefined : LOST_EXIT_CODE);
}

/** What runs, in the order in which it is to end. */
export function stopGroups({ pod, sandbox }: PodView): readonly (readonly RuntimeContainer[])[] {
  const running = (sandbox?.containers ?? []).filter(isRunning);
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const first = running.filter(({ name }) => !sidecars.includes(name));
  const then = sidecars.toReversed().map((sidecar) => running.filter(({ name }) => name === sidecar));
  return [first, ...then].filter((group) => group.length > 0);
}
