/**
 * Pod CIDRs of Nodes after the cluster CIDR has changed, since another network took it while the cluster was stopped. A Node's Pod CIDR
 * cannot be changed, and one outside of the cluster CIDR gets no routes: the Nodes of this machine are created again without it, before
 * their kubelets start. Other machines run with theirs, so that they are reported with the remedy.
 */
import { nodes } from "../api/core/v1/node.ts";
import type { Node } from "../api/generated/core/v1.ts";
import { cidrContains, parseCidr } from "../api/machinery/ip-address.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Steps } from "../cli/framework/progress.ts";
import type { Client } from "../client/client.ts";

export interface RenewPodCidrsOptions {
  /** Of the administrator. */
  readonly client: Client;
  readonly clusterCidr: string;
  /** The first node of this machine, which chooses its Pod CIDR itself. */
  readonly first: { readonly name: string; readonly podCidr: string };
  /** Names of its further nodes. */
  readonly others: readonly string[];
  readonly steps: Pick<Steps, "note">;
}

/** No kubelet of this machine may be running. */
export async function renewPodCidrs({ client, clusterCidr, first, others, steps }: RenewPodCidrsOptions): Promise<void> {
  const { items } = await client.list(nodes);
  for (const node of items.filter((one) => !isWithin(clusterCidr, one))) {
    const { name } = node.metadata;
    const range = node.spec?.podCIDR ?? "";
    if (name !== first.name && !others.includes(name)) {
      steps.note(
        `  warning: node ${name} has the Pod CIDR ${range}, but the cluster CIDR is now ${clusterCidr}, since another network uses the old ` +
          `one: its Pods are not reachable until you run "kubectl delete node ${name}" and restart k8ts join there`,
      );
      continue;
    }
    await client.delete(nodes, { name }).catch((error: unknown) => {
      if (!isReason(error, "NotFound")) throw error;
    });
    await client.create(nodes, withoutPodCidr(node, name === first.name ? first.podCidr : undefined));
    steps.note(`  node ${name} gets another Pod CIDR than ${range}, which another network uses`);
  }
}

/** With what users have set. Its kubelet completes it; without a CIDR the node IPAM controller assigns one. */
function withoutPodCidr({ metadata: { name, labels, annotations }, spec }: Node, podCidr: string | undefined): Node {
  const { podCIDR: _podCidr, podCIDRs: _podCidrs, ...kept } = spec ?? {};
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...kept, ...(podCidr === undefined ? {} : { podCIDR: podCidr, podCIDRs: [podCidr] }) },
  };
}

/** A Node without an IPv4 range has nothing to renew. */
function isWithin(clusterCidr: string, { spec }: Node): boolean {
  const cluster = parseCidr(clusterCidr);
  const range = (spec?.podCIDRs ?? [spec?.podCIDR ?? ""]).map(parseCidr).find((cidr) => cidr?.address.family === 4);
  return cluster === undefined || range === undefined || cidrContains(cluster, range.address);
}
