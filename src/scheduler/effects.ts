/**
 * Effects of scheduling as API requests: binding, preemption, clearing a nomination, binding volumes. Every request carries the uid of the decision, so that
 * another Pod of the same name is not affected. Messages of conditions and events are upstream's.
 */
import { disruptionTarget } from "../api/core/v1/pod/disruption-target.ts";
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { causedBy, type Cause } from "../api/machinery/cause.ts";
import type { Json } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import type { Client, ObjectKey } from "../client/client.ts";
import type { Informers } from "../client/informer/informer.ts";
import { ownWrites } from "../client/informer/own-writes.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import { deviceEffectsOn } from "./device-effects.ts";
import type { Effects } from "./framework/plugin.ts";

export interface EffectsOptions {
  readonly client: Client;
  /** They show the writes of ResourceClaims when these resolve. Absent: nothing is waited for. */
  readonly informers?: Informers;
  readonly events: Pick<EventRecorder, "record">;
  readonly clock: Clock;
  /**
   * Requeues a decided Pod that waits at permit or preBind; false if it does not wait there. Such a Pod runs nowhere yet, so that preempting it
   * deletes nothing. Default: none waits.
   */
  readonly sendBack?: (pod: Pod) => boolean;
  /** Called after each request to create a ResourceClaim. */
  readonly onClaimCreation?: (status: "success" | "failure") => void;
}

export function effectsOn({ client, informers, events, clock, sendBack = () => false, onClaimCreation }: EffectsOptions): Effects {
  const visible = informers === undefined ? client : ownWrites(client, informers);
  return {
    async bind(pod, nodeName, signal) {
      const { namespace, name, uid } = pod.metadata;
      const metadata = definedOnly({ namespace, name, uid });
      const binding = { apiVersion: "v1", kind: "Binding", metadata, target: { kind: "Node", name: nodeName } };
      try {
        await clientFor(pod, "Scheduled").post(pods, keyOf(pod), "binding", binding, { signal });
      } catch (error) {
        // Its response may be lost after execution. Treating the resources as free would assign them twice.
        if (!(await isBoundTo(nodeName, pod, signal))) throw error;
      }
    },

    async preempt(victim, preemptor, nodeName, signal) {
      const message = `Preempted by pod ${preemptor.metadata.uid ?? ""} on node ${nodeName}`;
      const preempted = (note: string): void =>
        events.record(victim, { type: "Normal", reason: "Preempted", action: "Preempting", message: note, related: preemptor });
      if (sendBack(victim)) return preempted(`${message} (in kube-scheduler memory).`);
      if (await deleteMarked(victim, preemptor, signal)) preempted(message);
    },

    async clearNomination(pod, preemptor, signal) {
      if ((pod.status?.nominatedNodeName ?? "") === "") return;
      await unlessGone(patchStatus(pod, { nominatedNodeName: null }, { preemptor, signal }));
    },

    storage: {
      updateVolume: (volume, pod, signal) => clientFor(pod, BINDING_VOLUMES).update(persistentVolumes, volume, { signal }),
      updateClaim: (claim, pod, signal) => clientFor(pod, BINDING_VOLUMES).update(persistentVolumeClaims, claim, { signal }),
      currentVolume: (name, signal) => client.get(persistentVolumes, { name }, { signal }),
      currentClaim: (namespace, name, signal) => client.get(persistentVolumeClaims, { namespace, name }, { signal }),
    },

    devices: deviceEffectsOn({
      clientFor: (pod, reason) => visible.with({ cause: schedulingCause(pod, reason) }),
      report: (pod, event) => events.record(pod, { ...event, action: "Scheduling" }),
      onCreation: onClaimCreation,
    }),
  };

  /** `pod`: the one being scheduled, the cause of the writes. */
  function clientFor(pod: Pod, reason: string): Client {
    return client.with({ cause: schedulingCause(pod, reason) });
  }

  /** False if it was already deleted. It gets its own grace period. */
  async function deleteMarked(victim: Pod, preemptor: Pod, signal: AbortSignal): Promise<boolean> {
    const { uid } = victim.metadata;
    const schedulerName = preemptor.spec?.schedulerName ?? "";
    const message = `${schedulerName}: preempting to accommodate a higher priority pod`;
    const condition = disruptionTarget(victim, { status: "True", reason: "PreemptionByScheduler", message }, clock.now());
    if (condition !== undefined && !(await unlessGone(patchStatus(victim, { conditions: [{ ...condition }] }, { preemptor, signal }))))
      return false;
    return unlessGone(
      clientFor(preemptor, PREEMPTING).delete(pods, keyOf(victim), { signal, ...(uid === undefined ? {} : { preconditions: { uid } }) }),
    );
  }

  async function patchStatus(
    pod: Pod,
    status: Json,
    { preemptor, signal }: { readonly preemptor: Pod; readonly signal: AbortSignal },
  ): Promise<void> {
    const value = { metadata: definedOnly({ uid: pod.metadata.uid }), status };
    const writing = clientFor(preemptor, PREEMPTING);
    await repeated(clock, () => writing.patch(pods, keyOf(pod), { type: "strategic", value }, { subresource: "status", signal }), signal);
  }

  /** False also if it cannot be determined. */
  async function isBoundTo(nodeName: string, pod: Pod, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    try {
      const { metadata, spec } = await repeated(clock, () => client.get(pods, keyOf(pod), { signal }), signal);
      return metadata.uid === pod.metadata.uid && spec?.nodeName === nodeName;
    } catch {
      return false;
    }
  }
}

/** Retried a few times where that may help. */
async function repeated<T>(clock: Clock, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await request();
    } catch (error) {
      if (failures + 1 >= ATTEMPTS_MAX || !isPassing(error)) throw error;
      await clock.sleep(exponentialDelayMs(BACKOFF, failures), signal);
    }
  }
}

const PREEMPTING = "Preempting";
const BINDING_VOLUMES = "BindingVolumes";

/** The cause of everything that the scheduler writes for a Pod: the Pod version of the decision. */
export function schedulingCause(pod: Pod, reason: string): Cause {
  return causedBy({ controller: pod.spec?.schedulerName ?? DEFAULT_SCHEDULER_NAME, reason, kind: pods, object: pod });
}

/** Pods from an API server have a name; upstream's default for those without. */
const DEFAULT_SCHEDULER_NAME = "default-scheduler";

/** Upstream's: 10, 50 and 250 ms between four attempts. */
const BACKOFF = { minMs: 10, maxMs: 250, factor: 5 };
const ATTEMPTS_MAX = 4;

/** Upstream includes conflicts, too; a patch without a version has none. */
function isPassing(error: unknown): boolean {
  return isReason(error, "InternalError") || isReason(error, "ServiceUnavailable");
}

/** Whether it succeeded; false if the Pod was deleted or replaced. */
async function unlessGone(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (isReason(error, "NotFound") || isOfAnotherUid(error)) return false;
    throw error;
  }
}

/** How the server rejects a wrong uid: with a conflict for a precondition, and as an immutable field in a patch. */
function isOfAnotherUid(error: unknown): boolean {
  if (isReason(error, "Conflict")) return true;
  return isReason(error, "Invalid") && error.details?.causes?.some(({ field }) => field === "metadata.uid") === true;
}

function keyOf({ metadata }: Pod): ObjectKey {
  return { namespace: metadata.namespace, name: metadata.name };
}

function definedOnly(members: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
