/**
 * What one Pod's worker writes to the API: its status, only if it says something new, and in the end its removal, once. Knows its own
 * writes again when they come back. Not here: what a status says (pod-status.ts).
 */
import type { Pod, PodStatus } from "../../../api/generated/core/v1.ts";
import { pods } from "../../../api/core/v1/pod.ts";
import { causedBy, type Cause } from "../../../api/machinery/cause.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Client } from "../../../client/client.ts";

export class PodReports {
  readonly #client: Client;
  /** What was last written, and what the server made of it. */
  #sent: PodStatus | undefined;
  #answered: PodStatus | undefined;
  #isDeletionAsked = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The echo of a write: nothing to look at. In one process it comes before the answer. */
  isOwn({ status }: Pod): boolean {
    return this.#sent !== undefined && deepEqual(status, this.#sent);
  }

  /**
   * Only if it differs. What the server makes of it may differ from what was sent, and then stays as it is. Resolves with its answer;
   * undefined if there was nothing to write, or the Pod has gone.
   */
  async write(pod: Pod, status: PodStatus): Promise<Pod | undefined> {
    if (deepEqual(pod.status, status)) return undefined;
    if (deepEqual(this.#sent, status) && deepEqual(this.#answered, pod.status)) return undefined;
    this.#sent = status;
    try {
      const answer = await this.#client.with({ cause: causeOf(pod, "ReportingStatus") }).updateStatus(pods, { ...pod, status });
      this.#answered = answer.status;
      return answer;
    } catch (error) {
      this.#sent = undefined;
      // It has gone, which the source tells soon.
      if (!isReason(error, "NotFound")) throw error;
      return undefined;
    }
  }

  /** Asked once: whatever holds it then (finalizers) is no business of a node's. */
  async remove(pod: Pod): Promise<void> {
    const { namespace, name, uid = "" } = pod.metadata;
    if (this.#isDeletionAsked) return;
    this.#isDeletionAsked = true;
    try {
      const client = this.#client.with({ cause: causeOf(pod, "Terminated") });
      await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // Gone, or another one of the same name.
      if (isReason(error, "NotFound") || isReason(error, "Conflict")) return;
      this.#isDeletionAsked = false;
      throw error;
    }
  }
}

/** The cause of a write: the version of the Pod by which the kubelet decided. */
function causeOf(pod: Pod, reason: string): Cause {
  return causedBy({ controller: "kubelet", reason, kind: pods, object: pod });
}
