/**
 * Pod CIDRs of Nodes after the cluster CIDRs have changed: another network took one while the cluster was stopped, or the flags name others,
 * or a further family. A Node's Pod CIDRs cannot be changed, and those outside of the cluster CIDRs get no routes: the Nodes of this machine
 * are created again without them, before their kubelets start. Other machines run with theirs, so that they are reported with the remedy.
 */
import { nodes } from "../api/core/v1/node.ts";
import type { Node } from "../api/generated/core/v1.ts";
import { cidrContains, parseCidr } from "../api/machinery/ip/ip-address.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { clusterCidrsOf, nodeCidrsOf, type PodRanges } from "../api/pod-ranges.ts";
import type { Steps } from "../cli/framework/progress.ts";
import type { Client } from "../client/client.ts";

export interface RenewPodCidrsOptions {
  /** Of the administrator. */
  readonly client: Client;
  /** Of the cluster, and of the first node of this machine, which chooses its own. */
  readonly ranges: PodRanges;
  /** Name of that node. */
  readonly first: string;
  /** Names of its further nodes. */
  readonly others: readonly string[];
  readonly steps: Pick<Steps, "note">;
}

/** No kubelet of this machine may be running. */
export async function renewPodCidrs({ client, ranges, first, others, steps }: RenewPodCidrsOptions): Promise<void> {
  const { items } = await client.list(nodes);
  const clusterCidrs = clusterCidrsOf(ranges);
  for (const node of items.filter((one) => !hasRangesOf(clusterCidrs, one))) {
    const { name } = node.metadata;
    const old = presentCidrs(node).join(",");
    if (name !== first && !others.includes(name)) {
      steps.note(
        `  warning: node ${name} has the Pod CIDR ${old}, but the cluster CIDR is now ${clusterCidrs.join(",")}: its Pods are not reachable ` +
          `until you run "kubectl delete node ${name}" and restart k8ts join there`,
      );
      continue;
    }
    await client.delete(nodes, { name }).catch((error: unknown) => {
      if (!isReason(error, "NotFound")) throw error;
    });
    await client.create(nodes, withPodCidrs(node, name === first ? nodeCidrsOf(ranges) : []));
    steps.note(`  node ${name} gets another Pod CIDR than ${old}, since the cluster CIDR is now ${clusterCidrs.join(",")}`);
  }
}

/** With what users have set. Its kubelet completes it; without a CIDR the node IPAM controller assigns one. */
function withPodCidrs({ metadata: { name, labels, annotations }, spec }: Node, podCidrs: readonly string[]): Node {
  const { podCIDR: _podCidr, podCIDRs: _podCidrs, ...kept } = spec ?? {};
  const [podCidr] = podCidrs;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...kept, ...(podCidr === undefined ? {} : { podCIDR: podCidr, podCIDRs: podCidrs }) },
  };
}

/** One range within each cluster CIDR, in their order. A Node without any has nothing to renew. */
function hasRangesOf(clusterCidrs: readonly string[], node: Node): boolean {
  const present = presentCidrs(node);
  if (present.length === 0) return true;
  return (
    present.length === clusterCidrs.length &&
    present.every((text, index) => {
      const [cluster, range] = [parseCidr(clusterCidrs[index] ?? ""), parseCidr(text)];
      return cluster !== undefined && range !== undefined && cidrContains(cluster, range.address);
    })
  );
}

function presentCidrs({ spec }: Node): readonly string[] {
  return spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]);
}
