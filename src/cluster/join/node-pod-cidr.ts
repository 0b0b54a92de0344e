/**
 * The Pod CIDR of a joining node: that of its Node object, which the cluster's node IPAM controller sets after the Node is created, or an
 * explicit one. So the Node is created before its kubelet starts; the kubelet completes it. The network is configured with the range before
 * the first Pod.
 */
import { nodes } from "../../api/core/v1/node.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { cidrContains, parseCidr } from "../../api/machinery/ip-address.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";

/** The controller reacts to the new Node within milliseconds. */
const POLL_DELAY = { minMs: 50, maxMs: 2_000 };
/** After this time the reason for waiting is reported. */
const WAITING_MS = 3_000;

export interface NodePodCidrOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** Explicit value. */
  readonly podCidr?: string | undefined;
  /** Range of the Pods of all nodes, if it is known: other nodes have no routes to a Pod CIDR outside of it. */
  readonly clusterCidr?: string | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onWaiting(message: string): void;
}

/** Rejects with the remedy if none is assigned in time, another one than the explicit one, or one that the other nodes do not reach. */
export async function nodePodCidr(options: NodePodCidrOptions): Promise<string> {
  const { clusterCidr, nodeName } = options;
  const chosen = await assignedPodCidr(options);
  const [cluster, range] = [parseCidr(clusterCidr ?? ""), parseCidr(chosen)];
  if (cluster === undefined || range === undefined || cidrContains(cluster, range.address)) return chosen;
  const remedy =
    options.podCidr === undefined
      ? `delete the Node with "kubectl delete node ${nodeName}" on the cluster and run k8ts join again`
      : "set --pod-cidr to a free range of it, or leave it out";
  throw new Error(`Cannot use the Pod CIDR ${chosen} of Node ${nodeName}: it is not within the cluster CIDR ${clusterCidr}; ${remedy}`);
}

async function assignedPodCidr(options: NodePodCidrOptions): Promise<string> {
  const { client, nodeName, podCidr, timeoutMs, clock, signal } = options;
  const assigned = podCidrOf(await getNode(client, nodeName));
  if (podCidr !== undefined) {
    if (assigned !== undefined && assigned !== podCidr)
      throw new Error(
        `Cannot use --pod-cidr ${podCidr}: Node ${nodeName} already has ${assigned}, which cannot be changed; leave the flag out, or delete ` +
          `the Node with "kubectl delete node ${nodeName}" first`,
      );
    return podCidr;
  }
  if (assigned !== undefined) return assigned;
  await createNode(client, nodeName);
  const [startMs, giveUpAtMs] = [clock.monotonic(), clock.monotonic() + timeoutMs];
  let isReported = false;
  for (let attempt = 0; ; attempt++) {
    const found = podCidrOf(await getNode(client, nodeName));
    if (found !== undefined) return found;
    const nowMs = clock.monotonic();
    if (nowMs >= giveUpAtMs)
      throw new Error(
        `Cannot configure the Pod network: no Pod CIDR was assigned to Node ${nodeName} within ${timeoutMs / 1_000} s; run the cluster's ` +
          `node IPAM controller (k8ts controller-manager --allocate-node-cidrs), or set --pod-cidr`,
      );
    if (!isReported && nowMs - startMs >= WAITING_MS) {
      options.onWaiting(`waiting for the cluster's node IPAM controller to assign a Pod CIDR to Node ${nodeName} (or set --pod-cidr)`);
      isReported = true;
    }
    await clock.sleep(exponentialDelayMs(POLL_DELAY, attempt), signal);
  }
}

/** IPv4. */
function podCidrOf(node: Node | undefined): string | undefined {
  return node?.spec?.podCIDRs?.find((range) => !range.includes(":")) ?? node?.spec?.podCIDR;
}

export async function getNode(client: Client, name: string): Promise<Node | undefined> {
  return client.get(nodes, { name }).catch((error: unknown) => {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  });
}

async function createNode(client: Client, name: string): Promise<void> {
  const node: Node = { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name } } };
  await client.create(nodes, node).catch((error: unknown) => {
    if (!isReason(error, "AlreadyExists")) throw error;
  });
}
