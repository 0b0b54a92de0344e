/**
 * What a kubelet that has just started can know of what one before it remembered (pod-state.ts), from what that one told the API and
 * what the runtime still has: how long containers that keep ending and images that cannot be had still have to wait. Over real containers
 * only what people were told counts, and what ended in the place that the Pod still has: another restart may have been a reboot, and how
 * often there was one says nothing of crashes. Simulated ones are never stopped by a reboot: there a kubelet that starts again, and a
 * cluster that was forked, tries nothing sooner than one that never stopped.
 *
 * A status has whole seconds and does not say when a pull failed last: pulls are counted from when they could begin, as if each had
 * failed at once. Not here: failures to make or start a container, which are tried again after ten seconds anyway.
 */
import type { ContainerStatus, Pod } from "../../api/generated/core/v1.ts";
import { momentMs } from "../../api/core/v1/pod/readiness.ts";
import { BACK_OFF_MIN_MS, grownBackOff, parseSeconds, repeatedBackOff, type BackOff } from "./containers/back-off.ts";
import type { OwnMemory } from "./pod-state.ts";
import type { Waiting } from "./plan/pod-plan.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";
import { isOfPresent, newestContainer, previousContainer } from "./containers/runtime-containers.ts";

/** Moments of a status may be so much too early. */
const SECOND_MS = 1000;
const PULL_FAILURES = ["ErrImagePull", "ImagePullBackOff"];

export interface Recalled {
  readonly pod: Pod;
  readonly sandbox: SandboxStatus | undefined;
  readonly nowMs: number;
  /** The runtime can change what a running container may use: what it was given counts, too. */
  readonly isResizable?: boolean;
  /** Containers end by themselves only, so that every restart followed a crash. */
  readonly isSimulated?: boolean;
}

export function recall(memory: OwnMemory, { pod, sandbox, nowMs, isResizable = false, isSimulated = false }: Recalled): void {
  for (const status of statusesOf(pod)) {
    if (isResizable && status.resources !== undefined) memory.granted.set(runtimeId(status), status.resources);
    const crash = isSimulated || isCrashing(status) || hasCrashedHere(status, sandbox) ? crashOf(status, sandbox) : undefined;
    if (crash !== undefined) memory.crashes.set(status.name, crash);
    recallPull(memory, status, pod, nowMs);
  }
  if (sandbox?.state !== "not-ready") return;
  for (const { id, name, state } of sandbox.containers) if (state.is === "exited" && !memory.crashes.has(name)) memory.endedBefore.add(id);
}

/** Containers of which people were told that they wait: they need not be told again. */
export function toldWaiting(pod: Pod): ReadonlyMap<string, Waiting> {
  const told = new Map<string, Waiting>();
  for (const { name, state } of statusesOf(pod)) {
    const { reason, message = "" } = state?.waiting ?? {};
    if (reason !== undefined) told.set(name, { reason, message });
  }
  return told;
}

/** Without the name of the runtime before it. */
function runtimeId({ containerID = "" }: ContainerStatus): string {
  return containerID.slice(containerID.indexOf("://") + "://".length);
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

// ── crashes ─────────────────────────────────────────────────────────────────────────────────────────

/** People were told that it waits since it keeps ending. */
function isCrashing({ state }: ContainerStatus): boolean {
  return state?.waiting?.reason === "CrashLoopBackOff";
}

/** It was started again in the place that there still is. */
function hasCrashedHere({ name }: ContainerStatus, sandbox: SandboxStatus | undefined): boolean {
  const earlier = previousContainer(sandbox, name);
  return sandbox?.state === "ready" && earlier !== undefined && isOfPresent(earlier, sandbox);
}

/** It grew last when the newest attempt began. */
function crashOf(status: ContainerStatus, sandbox: SandboxStatus | undefined): BackOff | undefined {
  const { name, restartCount, state, lastState } = status;
  const newest = newestContainer(sandbox, name);
  const restarts = Math.max(restartCount, newest?.attempt ?? 0);
  if (restarts === 0) return undefined;
  const told = /^back-off (\S+) restarting/.exec(state?.waiting?.message ?? "")?.[1];
  const begun = state?.running?.startedAt ?? state?.terminated?.startedAt ?? lastState?.terminated?.startedAt;
  const updatedAtMs = newest?.createdAtMs ?? momentMs(begun) ?? 0;
  const toldMs = told === undefined ? undefined : parseSeconds(told);
  if (toldMs === undefined) return { delayMs: delayBefore({ name, restarts }, sandbox), updatedAtMs };
  // Of a start after that nobody was told any more.
  let backOff: BackOff = { delayMs: toldMs, updatedAtMs };
  for (let count = restartCount; count < restarts; count++) backOff = grownBackOff(backOff, { eventMs: updatedAtMs, nowMs: updatedAtMs });
  return backOff;
}

/** As often as it was restarted, unless it waited for less than that: then all had been well for long enough to begin anew. */
function delayBefore({ name, restarts }: { readonly name: string; readonly restarts: number }, sandbox: SandboxStatus | undefined): number {
  const [newest, earlier] = [newestContainer(sandbox, name), previousContainer(sandbox, name)];
  const byCount = repeatedBackOff(restarts);
  if (newest === undefined || earlier?.state.is !== "exited") return byCount;
  const waitedMs = newest.createdAtMs - earlier.state.finishedAtMs + SECOND_MS;
  let inRow = 1;
  while (inRow < restarts && repeatedBackOff(inRow) <= waitedMs && repeatedBackOff(inRow) < byCount) inRow++;
  return repeatedBackOff(inRow);
}

// ── images ──────────────────────────────────────────────────────────────────────────────────────────

function recallPull(memory: OwnMemory, { name, image, state, lastState }: ContainerStatus, pod: Pod, nowMs: number): void {
  const { reason = "", message: told = "" } = state?.waiting ?? {};
  if (!PULL_FAILURES.includes(reason)) return;
  const error = reason === "ImagePullBackOff" ? told.replace(/^Back-off pulling image ".*?": /, "") : `${reason}: ${told}`;
  const message = error.slice(error.indexOf(":") + 2);
  const isInit = pod.spec?.initContainers?.some((container) => container.name === name) === true;
  const initialized = pod.status?.conditions?.find(({ type, status }) => type === "Initialized" && status === "True");
  const begun = [pod.status?.startTime, isInit ? undefined : initialized?.lastTransitionTime, lastState?.terminated?.finishedAt];
  const begunAtMs = Math.max(...begun.map((time) => momentMs(time) ?? 0));
  memory.pulls.set(image, { backOff: pullBackOff(begunAtMs, nowMs), error, message });
}

/** Of a pull that failed at `begunAtMs` and each time that it was tried again. */
function pullBackOff(begunAtMs: number, nowMs: number): BackOff {
  let backOff: BackOff = { delayMs: BACK_OFF_MIN_MS, updatedAtMs: begunAtMs };
  for (let triedAtMs = begunAtMs + backOff.delayMs; triedAtMs <= nowMs; triedAtMs += backOff.delayMs) {
    backOff = grownBackOff(backOff, { eventMs: triedAtMs, nowMs: triedAtMs });
  }
  return backOff;
}
