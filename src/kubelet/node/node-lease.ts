/**
 * The node heartbeat: renews the node's Lease (kube-node-lease/<node>, 40 s, owned by the Node and deleted with it), which shows the
 * control plane that the node is alive. The last answer is the base of the next renewal, so that it takes one request. When the kubelet
 * stops, the Lease expires.
 */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { formatMicroTime } from "../../api/machinery/time.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";
import type { NodeFailures } from "./shared-failures.ts";

export const NODE_LEASE_NAMESPACE = "kube-node-lease";
/** Upstream's --node-lease-duration-seconds. */
export const LEASE_DURATION_SECONDS = 40;
/** Upstream's backoff when the server cannot be reached. */
const RETRY_DELAY = { minMs: 200, maxMs: 7_000 };
const RENEW_FAILURE = "Cannot renew the lease of the node";

export interface NodeLeaseOptions {
  readonly nodeName: string;
  readonly client: Client;
  /** The Node, once it is known: owner of the Lease. */
  readonly node: () => Node | undefined;
  readonly clock: Clock;
  readonly failures: NodeFailures;
}

export class NodeLease {
  readonly #options: NodeLeaseOptions;
  #latest: Lease | undefined;
  #isFirst = true;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  /** The Lease exists: another process of this kubelet renewed it just now. */
  resume(): void {
    this.#isFirst = false;
  }

  /** Retries until it is renewed; a Node that does not exist has no Lease. Rejects only with the signal. */
  async renew(signal: AbortSignal): Promise<void> {
    const { clock, failures, nodeName, node } = this.#options;
    if (node() === undefined) return;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#tryRenew();
        failures.succeeded(RENEW_FAILURE, nodeName);
        return;
      } catch (error) {
        signal.throwIfAborted();
        failures.failed(RENEW_FAILURE, nodeName, error);
        // Reads the Lease before the next attempt, whatever happened to it.
        this.#latest = undefined;
      }
      await clock.sleep(exponentialDelayMs(RETRY_DELAY, attempt), signal);
    }
  }

  async #tryRenew(): Promise<void> {
    const { client } = this.#options;
    // A new node has none: creating it directly saves a read.
    if (this.#isFirst && (await this.#created())) return;
    const latest = this.#latest ?? (await this.#found());
    try {
      this.#latest = await (latest === undefined ? client.create(leases, this.#renewed()) : client.update(leases, this.#renewed(latest)));
    } catch (error) {
      const isOld = isReason(error, "Conflict") || isReason(error, "NotFound");
      if (this.#latest === undefined || !isOld) throw error;
      // Another client wrote or deleted it.
      this.#latest = undefined;
      await this.#tryRenew();
    }
  }

  async #created(): Promise<boolean> {
    this.#isFirst = false;
    try {
      this.#latest = await this.#options.client.create(leases, this.#renewed());
      return true;
    } catch (error) {
      if (isReason(error, "AlreadyExists")) return false;
      throw error;
    }
  }

  async #found(): Promise<Lease | undefined> {
    const { client, nodeName } = this.#options;
    try {
      return await client.get(leases, { namespace: NODE_LEASE_NAMESPACE, name: nodeName });
    } catch (error) {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    }
  }

  #renewed(latest?: Lease): Lease {
    const { nodeName, node, clock } = this.#options;
    const uid = node()?.metadata.uid;
    const owner = uid === undefined ? {} : { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }] };
    const metadata = latest?.metadata ?? { name: nodeName, namespace: NODE_LEASE_NAMESPACE };
    const isOwned = metadata.ownerReferences?.some((reference) => reference.uid === uid) === true;
    const spec = { holderIdentity: nodeName, leaseDurationSeconds: LEASE_DURATION_SECONDS, renewTime: formatMicroTime(clock.now()) };
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: isOwned ? metadata : { ...metadata, ...owner },
      spec: { ...latest?.spec, ...spec },
    };
  }
}
