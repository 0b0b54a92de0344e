/**
 * What scheduling does to a cluster, as requests to the API: binding a Pod, making room for it, taking back a nomination. Every request
 * names the uid that was decided about, so that nothing happens to another Pod of the same name that came since. The words of conditions
 * and events are upstream's.
 */
import { disruptionTarget } from "../api/core/v1/pod/disruption-target.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { causedBy, type Cause } from "../api/machinery/cause.ts";
import type { Json } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import type { Client, ObjectKey } from "../client/client.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import type { Effects } from "./framework/plugin.ts";

export interface EffectsOptions {
  readonly client: Client;
  readonly events: Pick<EventRecorder, "record">;
  readonly clock: Clock;
  /**
   * Sends a Pod that was decided, but waits at permit, back to the queue; false if it does not wait there. Such a Pod runs nowhere yet, so to
   * preempt it nothing has to be deleted. Default: none waits.
   */
  readonly sendBack?: (pod: Pod) => boolean;
}

export function effectsOn({ client, events, clock, sendBack = () => false }: EffectsOptions): Effects {
  return {
    async bind(pod, nodeName, signal) {
      const { namespace, name, uid } = pod.metadata;
      const metadata = definedOnly({ namespace, name, uid });
      const binding = { apiVersion: "v1", kind: "Binding", metadata, target: { kind: "Node", name: nodeName } };
      try {
        await clientFor(pod, "Scheduled").post(pods, keyOf(pod), "binding", binding, { signal });
      } catch (error) {
        // Its answer may have been lost after the server had done it. Whoever then took the room for free would give it away twice.
        if (!(await isBoundTo(pod, nodeName, signal))) throw error;
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
  };

  /** `pod`: the one that is being scheduled, which is why anything is written. */
  function clientFor(pod: Pod, reason: string): Client {
    return client.with({ cause: schedulingCause(pod, reason) });
  }

  /** False if it was gone already. Its grace is its own: a Pod that is preempted may end as any other. */
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
    await repeated(() => writing.patch(pods, keyOf(pod), { type: "strategic", value }, { subresource: "status", signal }), signal);
  }

  /** False also if it cannot be found out. */
  async function isBoundTo(pod: Pod, nodeName: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    try {
      const { metadata, spec } = await repeated(() => client.get(pods, keyOf(pod), { signal }), signal);
      return metadata.uid === pod.metadata.uid && spec?.nodeName === nodeName;
    } catch {
      return false;
    }
  }

  /** Tried again a few times where another time may help. */
  async function repeated<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await request();
      } catch (error) {
        if (failures + 1 >= ATTEMPTS_MAX || !isPassing(error)) throw error;
        await clock.sleep(exponentialDelayMs(BACKOFF, failures), signal);
      }
    }
  }
}

const PREEMPTING = "Preempting";

/** The cause of everything that the scheduler writes for a Pod: the version of the Pod that it decided by. */
export function schedulingCause(pod: Pod, reason: string): Cause {
  return causedBy({ controller: pod.spec?.schedulerName ?? DEFAULT_SCHEDULER_NAME, reason, kind: pods, object: pod });
}

/** Pods from an API server have a name; upstream's default for those that have none. */
const DEFAULT_SCHEDULER_NAME = "default-scheduler";

/** Upstream's: 10, 50 and 250 ms between four attempts. */
const BACKOFF = { minMs: 10, maxMs: 250, factor: 5 };
const ATTEMPTS_MAX = 4;

/** Upstream has conflicts among them, too; a patch that names no version has none. */
function isPassing(error: unknown): boolean {
  return isReason(error, "InternalError") || isReason(error, "ServiceUnavailable");
}

/** Whether it was done; false if the Pod is gone, or another one has its name. */
async function unlessGone(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (isReason(error, "NotFound") || isOfAnotherUid(error)) return false;
    throw error;
  }
}

/** How the server refuses a uid that is not the Pod's: in a precondition with a conflict, in a patch as a change of what cannot change. */
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
