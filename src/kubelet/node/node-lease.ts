/**
 * The Lease by which the control plane sees that a node is alive: kube-node-lease/<node>, good for 40 s, owned by the Node, so that it goes
 * with it. The last answer is the base of the next renewal, which is then one request. When the kubelet stops it stays and runs out.
 */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { formatMicroTime } from "../../api/machinery/time.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";
import type { Troubles } from "./shared-failures.ts";

export const NODE_LEASE_NAMESPACE = "kube-node-lease";
/** Upstream's --node-lease-duration-seconds. */
export const LEASE_DURATION_SECONDS = 40;
/** Upstream's delays when the server cannot be reached. */
const AGAIN = { minMs: 200, maxMs: 7_000 };
const TROUBLE = "Cannot renew the lease of the node";

export interface NodeLeaseOptions {
  readonly nodeName: string;
  readonly client: Client;
  /** The Node, once it is known: it owns the Lease. */
  readonly node: () => Node | undefined;
  readonly clock: Clock;
  readonly troubles: Troubles;
}

export class NodeLease {
  readonly #options: NodeLeaseOptions;
  #latest: Lease | undefined;
  #isFirst = true;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  /** Tries until it is renewed; of a Node that is no more there is no lease. Rejects only with the signal. */
  async renew(signal: AbortSignal): Promise<void> {
    const { clock, troubles, nodeName, node } = this.#options;
    if (node() === undefined) return;
    for (let failures = 0; ; failures++) {
      try {
        await this.#tryRenew();
        troubles.succeeded(TROUBLE, nodeName);
        return;
      } catch (error) {
        signal.throwIfAborted();
        troubles.failed(TROUBLE, nodeName, error);
        // Whatever happened to it: look before the next attempt.
        this.#latest = undefined;
      }
      await clock.sleep(exponentialDelayMs(AGAIN, failures), signal);
    }
  }

  async #tryRenew(): Promise<void> {
    const { client } = this.#options;
    // Of a node that is new there is none: to try costs less than to look.
    if (this.#isFirst && (await this.#created())) return;
    const latest = this.#latest ?? (await this.#found());
    try {
      this.#latest = await (latest === undefined ? client.create(leases, this.#renewed()) : client.update(leases, this.#renewed(latest)));
    } catch (error) {
      const isOld = isReason(error, "Conflict") || isReason(error, "NotFound");
      if (this.#latest === undefined || !isOld) throw error;
      // Somebody else wrote or removed it.
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
