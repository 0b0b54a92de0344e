/**
 * Writes the status of one Pod to the API if it changed, and deletes the Pod once when it has terminated. Recognizes the informer's echo of
 * its own writes. Not here: the contents of a status (pod-status.ts).
 */
import type { Pod, PodStatus } from "../../../api/generated/core/v1.ts";
import { pods } from "../../../api/core/v1/pod.ts";
import { causedBy, type Cause } from "../../../api/machinery/cause.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { UNKNOWN_TIME } from "../../../api/machinery/time.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Client } from "../../../client/client.ts";

export class StatusWriter {
  readonly #client: Client;
  /** The last status sent, and the server's answer. */
  #sent: PodStatus | undefined;
  #answered: PodStatus | undefined;
  #isDeletionAsked = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True for the echo of a write, which needs no sync. In one process it arrives before the answer. */
  isOwn({ status }: Pod): boolean {
    return this.#sent !== undefined && deepEqual(status, this.#sent);
  }

  /**
   * Writes the status if it differs. The server may change it, which does not cause another write. Resolves with the answer; undefined if
   * nothing was written or the Pod does not exist.
   */
  async write(pod: Pod, status: PodStatus): Promise<Pod | undefined> {
    if (deepEqual(pod.status, status) || deepEqual(pod.status, asReturned(status))) return undefined;
    if (deepEqual(this.#sent, status) && deepEqual(this.#answered, pod.status)) return undefined;
    this.#sent = status;
    try {
      const answer = await this.#client.with({ cause: causeOf(pod, "ReportingStatus") }).updateStatus(pods, { ...pod, status });
      this.#answered = answer.status;
      return answer;
    } catch (error) {
      this.#sent = undefined;
      // The Pod was deleted; the informer reports it soon.
      if (!isReason(error, "NotFound")) throw error;
      return undefined;
    }
  }

  /** Requested once: finalizers that delay it do not concern the kubelet. */
  async remove(pod: Pod): Promise<void> {
    const { namespace, name, uid = "" } = pod.metadata;
    if (this.#isDeletionAsked) return;
    this.#isDeletionAsked = true;
    try {
      const client = this.#client.with({ cause: causeOf(pod, "Terminated") });
      await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // Deleted, or replaced by another Pod of the same name.
      if (isReason(error, "NotFound") || isReason(error, "Conflict")) return;
      this.#isDeletionAsked = false;
      throw error;
    }
  }
}

/** As the API server returns it. Otherwise a kubelet that starts would write the status of each of its Pods, which changes nothing. */
function asReturned(status: PodStatus): PodStatus {
  const { conditions } = status;
  if (conditions === undefined) return status;
  return {
    ...status,
    conditions: conditions.map((condition) => ({ ...condition, lastProbeTime: condition.lastProbeTime ?? UNKNOWN_TIME })),
  };
}

/** Cause of a write: the version of the Pod that the kubelet decided on. */
function causeOf(pod: Pod, reason: string): Cause {
  return causedBy({ controller: "kubelet", reason, kind: pods, object: pod });
}
