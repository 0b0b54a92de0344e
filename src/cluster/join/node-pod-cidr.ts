/**
 * The Pod CIDRs of a joining node: those of its Node object, which the cluster's node IPAM controller sets after the Node is created, or
 * explicit ones. So the Node is created before its kubelet starts; the kubelet completes it. The network is configured with the ranges
 * before the first Pod.
 */
import { nodes } from "../../api/core/v1/node.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { cidrContains, parseCidr } from "../../api/machinery/ip/ip-address.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { byFamily, type PodRanges } from "../../api/pod-ranges.ts";
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
  /** Explicit values, one per IP family. Empty: those of the Node. */
  readonly podCidrs: readonly string[];
  /** Ranges of the Pods of all nodes, as far as they are known: other nodes have no routes to a Pod CIDR outside of them. */
  readonly clusterCidrs: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onWaiting(message: string): void;
}

/** Rejects with the remedy if none is assigned in time, another one than the explicit one, or one that the other nodes do not reach. */
export async function nodePodRanges(options: NodePodCidrOptions): Promise<PodRanges> {
  const { clusterCidrs, nodeName } = options;
  const chosen = await assignedPodCidrs(options);
  const outside = chosen.find((podCidr) => !isWithin(clusterCidrs, podCidr));
  const { ipv4, ipv6, isIpv6First } = byFamily(chosen);
  if (outside === undefined && ipv4 !== undefined) {
    const cluster = byFamily(clusterCidrs);
    return {
      ...{ podCidr: ipv4, clusterCidr: cluster.ipv4 ?? ipv4, isIpv6First },
      ...(ipv6 === undefined ? {} : { ipv6: { podCidr: ipv6, clusterCidr: cluster.ipv6 ?? ipv6 } }),
    };
  }
  const remedy =
    options.podCidrs.length === 0
      ? `delete the Node with "kubectl delete node ${nodeName}" on the cluster and run k8ts join again`
      : "set --pod-cidr to a free range of it, or leave it out";
  if (outside === undefined)
    throw new Error(`Cannot use the Pod CIDR ${chosen.join(",")} of Node ${nodeName}: it has no IPv4 range; ${remedy}`);
  throw new Error(
    `Cannot use the Pod CIDR ${outside} of Node ${nodeName}: it is not within the cluster CIDR ${clusterCidrs.join(",")}; ${remedy}`,
  );
}

/** True if the cluster CIDR of its family is not known. */
function isWithin(clusterCidrs: readonly string[], podCidr: string): boolean {
  const range = parseCidr(podCidr);
  const clusters = clusterCidrs.flatMap((text) => parseCidr(text) ?? []);
  if (clusters.length === 0 || range === undefined) return true;
  return clusters.some((cluster) => cidrContains(cluster, range.address));
}

async function assignedPodCidrs(options: NodePodCidrOptions): Promise<readonly string[]> {
  const { client, nodeName, podCidrs, timeoutMs, clock, signal } = options;
  const assigned = presentCidrs(await getNode(client, nodeName));
  if (podCidrs.length > 0) {
    if (assigned !== undefined && assigned.join(",") !== podCidrs.join(","))
      throw new Error(
        `Cannot use --pod-cidr ${podCidrs.join(",")}: Node ${nodeName} already has ${assigned.join(",")}, which cannot be changed; leave the ` +
          `flag out, or delete the Node with "kubectl delete node ${nodeName}" first`,
      );
    return podCidrs;
  }
  if (assigned !== undefined) return assigned;
  await createNode(client, nodeName);
  const [startMs, giveUpAtMs] = [clock.monotonic(), clock.monotonic() + timeoutMs];
  let isReported = false;
  for (let attempt = 0; ; attempt++) {
    const found = presentCidrs(await getNode(client, nodeName));
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

/** Undefined: none yet. */
function presentCidrs(node: Node | undefined): readonly string[] | undefined {
  const { podCIDR, podCIDRs = podCIDR === undefined || podCIDR === "" ? [] : [podCIDR] } = node?.spec ?? {};
  return podCIDRs.length === 0 ? undefined : podCIDRs;
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
