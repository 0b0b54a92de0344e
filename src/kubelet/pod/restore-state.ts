/**
 * Restores the back-offs of an earlier kubelet process (pod-state.ts) from the reported status and from the runtime. For real containers
 * only a reported back-off counts, and exits in the current sandbox: other restarts may come from reboots, which are no crashes. Simulated
 * containers are not stopped by a reboot: there a restarted kubelet, or one of a forked cluster, retries nothing earlier than one that
 * never stopped.
 *
 * A status has a resolution of one second and lacks the time of the last failed pull: pulls are counted from when they could begin, as if
 * each had failed at once. Not here: failures to create or start a container, which are retried after ten seconds anyway.
 */
import type { ContainerStatus, Pod } from "../../api/generated/core/v1.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import { BACK_OFF_MIN_MS, grownBackOff, parseSeconds, repeatedBackOff, restartedProgram, type BackOff } from "./containers/back-off.ts";
import { definitionOf } from "./pod-events.ts";
import type { PodWorkerMemory } from "./pod-state.ts";
import type { Waiting } from "./plan/plan-contract.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";
import { isOfPresent, newestContainer, previousContainer } from "./containers/runtime-containers.ts";

/** Tolerated rounding of timestamps in a status. */
const SECOND_MS = 1000;
const PULL_FAILURES = ["ErrImagePull", "ImagePullBackOff"];

export interface RestoreSources {
  readonly pod: Pod;
  readonly sandbox: SandboxStatus | undefined;
  readonly nowMs: number;
  /** True if the runtime can resize running containers: granted resources are restored, too. */
  readonly isResizable?: boolean;
  /** True if containers exit only by themselves, so that every restart followed a crash. */
  readonly isSimulated?: boolean;
}

export function restoreState(
  memory: PodWorkerMemory,
  { pod, sandbox, nowMs, isResizable = false, isSimulated = false }: RestoreSources,
): void {
  memory.isRestored = true;
  for (const status of statusesOf(pod)) {
    if (isResizable && status.resources !== undefined) memory.granted.set(runtimeId(status), status.resources);
    const crash = isSimulated || isCrashing(status) || hasCrashedHere(status, sandbox) ? crashOf(status, sandbox) : undefined;
    if (crash !== undefined) memory.crashes.set(status.name, { ...crash, of: restartedProgram(definitionOf(pod, status.name).container) });
    restorePull(memory, status, pod, nowMs);
  }
  if (sandbox?.state !== "not-ready") return;
  for (const { id, name, state } of sandbox.containers) if (state.is === "exited" && !memory.crashes.has(name)) memory.endedBefore.add(id);
}

/** Containers that were reported as waiting: no Event is recorded again. */
export function reportedWaiting(pod: Pod): ReadonlyMap<string, Waiting> {
  const reported = new Map<string, Waiting>();
  for (const { name, state } of statusesOf(pod)) {
    const { reason, message = "" } = state?.waiting ?? {};
    if (reason !== undefined) reported.set(name, { reason, message });
  }
  return reported;
}

/** The id without the runtime's prefix. */
function runtimeId({ containerID = "" }: ContainerStatus): string {
  return containerID.slice(containerID.indexOf("://") + "://".length);
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

// ── crashes ─────────────────────────────────────────────────────────────────────────────────────────

/** Reported as CrashLoopBackOff. */
function isCrashing({ state }: ContainerStatus): boolean {
  return state?.waiting?.reason === "CrashLoopBackOff";
}

/** Restarted in the current sandbox. */
function hasCrashedHere({ name }: ContainerStatus, sandbox: SandboxStatus | undefined): boolean {
  const earlier = previousContainer(sandbox, name);
  return sandbox?.state === "ready" && earlier !== undefined && isOfPresent(earlier, sandbox);
}

/** It grew last when the newest attempt was created. */
function crashOf(status: ContainerStatus, sandbox: SandboxStatus | undefined): BackOff | undefined {
  const { name, restartCount, state, lastState } = status;
  const newest = newestContainer(sandbox, name);
  const restarts = Math.max(restartCount, newest?.attempt ?? 0);
  if (restarts === 0) return undefined;
  const reported = /^back-off (\S+) restarting/.exec(state?.waiting?.message ?? "")?.[1];
  const begun = state?.running?.startedAt ?? state?.terminated?.startedAt ?? lastState?.terminated?.startedAt;
  const updatedAtMs = newest?.createdAtMs ?? timestampMs(begun) ?? 0;
  const reportedMs = reported === undefined ? undefined : parseSeconds(reported);
  if (reportedMs === undefined) return { delayMs: delayBefore({ name, restarts }, sandbox), updatedAtMs };
  // Starts after that were not reported.
  let backOff: BackOff = { delayMs: reportedMs, updatedAtMs };
  for (let count = restartCount; count < restarts; count++) backOff = grownBackOff(backOff, { eventMs: updatedAtMs, nowMs: updatedAtMs });
  return backOff;
}

/** Derived from the restart count, unless the container waited for less: then the back-off had been reset. */
function delayBefore({ name, restarts }: { readonly name: string; readonly restarts: number }, sandbox: SandboxStatus | undefined): number {
  const [newest, earlier] = [newestContainer(sandbox, name), previousContainer(sandbox, name)];
  const byCount = repeatedBackOff(restarts);
  if (newest === undefined || earlier?.state.is !== "exited") return byCount;
  const waitedMs = newest.createdAtMs - earlier.state.finishedAtMs + SECOND_MS;
  let failures = 1;
  while (failures < restarts && repeatedBackOff(failures) <= waitedMs && repeatedBackOff(failures) < byCount) failures++;
  return repeatedBackOff(failures);
}

// ── images ──────────────────────────────────────────────────────────────────────────────────────────

function restorePull(memory: PodWorkerMemory, { name, image, state, lastState }: ContainerStatus, pod: Pod, nowMs: number): void {
  const { reason = "", message: reported = "" } = state?.waiting ?? {};
  if (!PULL_FAILURES.includes(reason)) return;
  const volumeImages = (pod.spec?.volumes ?? []).flatMap((volume) => volume.image?.reference ?? []);
  // The status does not show whether the container's own image is meant; the first delay is short.
  if (reason === "ErrImagePull" && volumeImages.length > 0) return;
  const error = reason === "ImagePullBackOff" ? reported.replace(/^Back-off pulling image ".*?": /, "") : `${reason}: ${reported}`;
  const message = error.slice(error.indexOf(":") + 2);
  const isInit = pod.spec?.initContainers?.some((container) => container.name === name) === true;
  const initialized = pod.status?.conditions?.find(({ type, status }) => type === "Initialized" && status === "True");
  const begun = [pod.status?.startTime, isInit ? undefined : initialized?.lastTransitionTime, lastState?.terminated?.finishedAt];
  const begunAtMs = Math.max(...begun.map((time) => timestampMs(time) ?? 0));
  const failure = { backOff: pullBackOff(begunAtMs, nowMs), error, message };
  const named = /^Back-off pulling image "(.*?)"/.exec(reported)?.[1] ?? image;
  if (named !== image && volumeImages.includes(named)) memory.volumeImages.set(named, failure);
  else memory.pulls.set(image, failure);
}

/** Back-off of a pull that failed at `begunAtMs` and at every retry since. */
function pullBackOff(begunAtMs: number, nowMs: number): BackOff {
  let backOff: BackOff = { delayMs: BACK_OFF_MIN_MS, updatedAtMs: begunAtMs };
  for (let triedAtMs = begunAtMs + backOff.delayMs; triedAtMs <= nowMs; triedAtMs += backOff.delayMs) {
    backOff = grownBackOff(backOff, { eventMs: triedAtMs, nowMs: triedAtMs });
  }
  return backOff;
}
