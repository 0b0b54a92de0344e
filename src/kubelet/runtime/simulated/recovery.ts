/**
 * What ran of a Pod, read from its status: the memory of a driver that has none. With the script, which follows from the Pod, it gives
 * the state that a driver would have that had never ended: same ids, same addresses, same moments, nothing restarted.
 * Containers of a Pod that is being deleted were asked to end when it was, to the second. What a status cannot say is lost: an image that
 * was being pulled is pulled anew. Nothing fails here: what cannot be read is left out, and the kubelet starts it as if it had not been.
 */
import type { ContainerStateTerminated, ContainerStatus, Pod } from "../../../api/generated/core/v1.ts";
import { parseTime } from "../../../api/machinery/time.ts";
import { GRACE_MIN_MS } from "../../pod/plan/grace-period.ts";
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
  /** Undefined: it was made, and its start has not come to its end. */
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

/** The current one, and the one before it if the status tells of it; oldest first. */
function recoverContainer(pod: Pod, status: ContainerStatus, rules: readonly ReadRule[]): RecoveredContainer[] {
  const { state = {}, lastState = {}, restartCount } = status;
  const script = scriptOfPast(pod, status, rules);
  const recover = (started: Started, attempt: number, ended?: ContainerStateTerminated): RecoveredContainer[] =>
    recovered({ pod, status, script, attempt }, started, ended);
  const isWaiting = state.running === undefined && state.terminated === undefined;
  const made = isWaiting ? recoverMade({ pod, status, script, attempt: restartCount }) : undefined;
  // One that waits for its restart is still the one that ended: it is counted when it starts again.
  if (isWaiting && made === undefined) {
    return lastState.terminated === undefined ? [] : recover(lastState.terminated, restartCount, lastState.terminated);
  }
  const previous = lastState.terminated === undefined ? [] : recover(lastState.terminated, restartCount - 1, lastState.terminated);
  if (made !== undefined) return [...previous, made];
  const current = { containerID: status.containerID, ...(state.running ?? state.terminated) };
  return [...previous, ...recover(current, restartCount, state.terminated)];
}

/** One that is being started has an id, which is not that of the one before it, and no moments. */
function recoverMade({ pod, status, script, attempt }: Past): RecoveredContainer | undefined {
  const { name, image, imageID: imageId, containerID = "", lastState } = status;
  const id = withoutScheme(containerID);
  const createdAtMs = createdAtOf(id);
  if (createdAtMs === undefined || containerID === lastState?.terminated?.containerID) return undefined;
  return { facts: { id, podUid: pod.metadata.uid ?? "", name, attempt, image, imageId, createdAtMs }, script, life: undefined };
}

/** Of a container that there is already. What annotations say that were spoilt since cannot count; it runs on. */
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

/** When a container of a Pod that is being deleted was asked to end. Sidecars are asked when the others have ended: nobody knows when. */
function stopOf({ metadata, spec }: Pod, name: string): { readonly stop?: Stop } {
  const endMs = parseTime(metadata.deletionTimestamp ?? "");
  const container = spec?.containers?.find((candidate) => candidate.name === name);
  if (endMs === undefined || container === undefined) return {};
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const hookMs = (container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
  const askedAtMs = endMs - graceMs + Math.min(hookMs, graceMs);
  return { stop: { askedAtMs, killAtMs: Math.max(endMs, askedAtMs + GRACE_MIN_MS) } };
}

/** An end that the script tells to the millisecond needs no telling; any other was somebody's doing. */
function lifeOf(script: ContainerScript, life: Life, ended: ContainerStateTerminated | undefined): Life {
  if (ended === undefined) return life;
  const { exitCode, reason = reasonOf(exitCode), message } = ended;
  const finishedSecondMs = parseTime(ended.finishedAt ?? "") ?? life.startedAtMs;
  const scripted = endOf(script, life);
  if (scripted?.exitCode === exitCode && Math.floor(scripted.atMs / 1000) * 1000 === finishedSecondMs) return life;
  return { ...life, ended: { atMs: Math.max(life.startedAtMs, finishedSecondMs), exitCode, reason, message } };
}
