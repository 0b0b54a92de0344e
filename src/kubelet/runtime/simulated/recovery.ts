/**
 * Recovers the state of a Pod from its status, for a driver without storage. With the script, which is derived from the Pod, it yields the
 * state of a driver that never stopped: same ids, same addresses, same timestamps, nothing restarted. Containers of a Pod that is being
 * deleted received SIGTERM at its deletion, to the second. What a status cannot contain is lost: an image pull in progress is repeated.
 * Nothing fails here: unreadable parts are left out, and the kubelet starts them as if they had never run.
 */
import type { ContainerStateTerminated, ContainerStatus, Pod } from "../../../api/generated/core/v1.ts";
import { parseTime } from "../../../api/machinery/time.ts";
import { GRACE_MIN_MS } from "../../shared/grace-period.ts";
import { RuntimeError } from "../../contracts/runtime.ts";
import type { ContainerFacts } from "./container.ts";
import { containerId, createdAtOf, withoutScheme } from "./identity.ts";
import { scriptFor, type NamedContainer, type ReadRule } from "./pod-script.ts";
import { DEFAULT_SCRIPT, reasonOf, type ContainerScript } from "./script.ts";
import { endOf, type Life, type Stop } from "./state.ts";

export interface RecoveredPod {
  readonly createdAtMs: number;
  /** Empty if the Pod has none or needs none any more. */
  readonly ips: readonly string[];
  readonly isReady: boolean;
  /** Newest attempt first. */
  readonly containers: readonly RecoveredContainer[];
}

export interface RecoveredContainer {
  readonly facts: ContainerFacts;
  readonly script: ContainerScript;
  /** Undefined: it was created, and its start is in progress. */
  readonly life: Life | undefined;
}

/** Undefined if nothing of it ever ran. */
export function recoverPod(pod: Pod, rules: readonly ReadRule[]): RecoveredPod | undefined {
  const { status = {}, spec } = pod;
  const statuses = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  // The last to be started is the newest.
  const containers = statuses.flatMap((container) => recoverContainer(pod, container, rules)).toReversed();
  const ips = (status.podIPs ?? [{ ip: status.podIP }]).flatMap(({ ip }) => ip ?? []);
  if (ips.length === 0 && containers.length === 0) return undefined;
  const isOver = status.phase === "Succeeded" || status.phase === "Failed";
  const isReady = !isOver || statuses.some(({ state }) => state?.running !== undefined);
  return {
    createdAtMs: parseTime(status.startTime ?? "") ?? 0,
    ips: isReady && spec?.hostNetwork !== true ? ips : [],
    isReady,
    containers,
  };
}

/** The current attempt, and the previous one if the status has it; oldest first. */
function recoverContainer(pod: Pod, status: ContainerStatus, rules: readonly ReadRule[]): RecoveredContainer[] {
  const { state = {}, lastState = {}, restartCount } = status;
  const script = scriptOfPast(pod, status, rules);
  const recover = (started: Started, attempt: number, ended?: ContainerStateTerminated): RecoveredContainer[] =>
    recovered({ pod, status, script, attempt }, started, ended);
  const isWaiting = state.running === undefined && state.terminated === undefined;
  const made = isWaiting ? recoverMade({ pod, status, script, attempt: restartCount }) : undefined;
  // A container that waits for its restart is still the exited one: the attempt is counted when it starts again.
  if (isWaiting && made === undefined) {
    return lastState.terminated === undefined ? [] : recover(lastState.terminated, restartCount, lastState.terminated);
  }
  const previous = lastState.terminated === undefined ? [] : recover(lastState.terminated, restartCount - 1, lastState.terminated);
  if (made !== undefined) return [...previous, made];
  const current = { containerID: status.containerID, ...(state.running ?? state.terminated) };
  return [...previous, ...recover(current, restartCount, state.terminated)];
}

/** A container that is being started has an id, different from the previous one's, and no timestamps. */
function recoverMade({ pod, status, script, attempt }: Past): RecoveredContainer | undefined {
  const { name, image, imageID: imageId, containerID = "", lastState } = status;
  const id = withoutScheme(containerID);
  const createdAtMs = createdAtOf(id);
  if (createdAtMs === undefined || containerID === lastState?.terminated?.containerID) return undefined;
  return { facts: { id, podUid: pod.metadata.uid ?? "", name, attempt, image, imageId, createdAtMs }, script, life: undefined };
}

/** For a container that already exists: annotations that became invalid since are ignored; it keeps running. */
export function scriptOfPast(pod: Pod, container: NamedContainer, rules: readonly ReadRule[]): ContainerScript {
  try {
    return scriptFor(pod, container, rules);
  } catch (error) {
    if (error instanceof RuntimeError) return DEFAULT_SCRIPT;
    throw error;
  }
}

interface Started {
  readonly startedAt?: string | undefined;
  readonly containerID?: string | undefined;
}

interface Past {
  readonly pod: Pod;
  readonly status: ContainerStatus;
  readonly script: ContainerScript;
  readonly attempt: number;
}

function recovered({ pod, status, script, attempt }: Past, started: Started, ended?: ContainerStateTerminated): RecoveredContainer[] {
  const { name, image, imageID: imageId } = status;
  const podUid = pod.metadata.uid ?? "";
  const startedSecondMs = parseTime(started.startedAt ?? "");
  if (startedSecondMs === undefined || attempt < 0) return [];
  const known = started.containerID === undefined || started.containerID === "" ? undefined : withoutScheme(started.containerID);
  const madeAtMs = known === undefined ? undefined : createdAtOf(known);
  const startedAtMs = startedSecondMs + (((madeAtMs ?? 0) + script.startAfterMs) % 1000);
  const createdAtMs = madeAtMs ?? startedAtMs - script.startAfterMs;
  const id = known ?? containerId({ podUid, name, attempt, createdAtMs });
  const facts = { id, podUid, name, attempt, image, imageId, createdAtMs };
  return [{ facts, script, life: lifeOf(script, { startedAtMs, attempt, ...stopOf(pod, name) }, ended) }];
}

/**
 * When a container of a Pod that is being deleted received SIGTERM. Sidecars receive it when the others have exited: the time is unknown.
 */
function stopOf({ metadata, spec }: Pod, name: string): { readonly stop?: Stop } {
  const endMs = parseTime(metadata.deletionTimestamp ?? "");
  const container = spec?.containers?.find((candidate) => candidate.name === name);
  if (endMs === undefined || container === undefined) return {};
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const hookMs = (container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
  const requestedAtMs = endMs - graceMs + Math.min(hookMs, graceMs);
  return { stop: { requestedAtMs, killAtMs: Math.max(endMs, requestedAtMs + GRACE_MIN_MS) } };
}

/** An exit that follows from the script is known to the millisecond and not recorded; any other was requested. */
function lifeOf(script: ContainerScript, life: Life, ended: ContainerStateTerminated | undefined): Life {
  if (ended === undefined) return life;
  const { exitCode, reason = reasonOf(exitCode), message } = ended;
  const finishedSecondMs = parseTime(ended.finishedAt ?? "") ?? life.startedAtMs;
  const scripted = endOf(script, life);
  if (scripted?.exitCode === exitCode && Math.floor(scripted.atMs / 1000) * 1000 === finishedSecondMs) return life;
  return { ...life, ended: { atMs: Math.max(life.startedAtMs, finishedSecondMs), exitCode, reason, message } };
}
