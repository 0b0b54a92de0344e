/**
 * Contract of the components that connect Pods: Pod network, service proxy, network policies, DNS, ingress. One file each, listed in
 * all.ts. `k8ts up` and `k8ts join` start them after the node's network and before its kubelet's first Pod, in the order of the list, and
 * stop them in reverse. `k8ts up --processes` runs those with a command as processes of their own.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { IdentityName } from "../../api/identities.ts";
import type { FamilyRanges } from "../../api/pod-ranges.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";

/** Names what a node of a cluster has in the kernel. */
export interface KernelOwner {
  /** Prefix of chains, tables and sets: lower-case letters and digits, at most 6. Unique per cluster and node on a machine. */
  readonly owner: string;
  readonly namespace: NetworkNamespace;
  readonly log: Logger;
}

export interface NodeNetwork extends KernelOwner {
  readonly nodeName: string;
  /** Addresses of the node, the first is its InternalIP. */
  readonly nodeIps: readonly string[];
  /** Ranges and gateway of IPv6, beside those of IPv4 below. Absent: Pods have IPv4 addresses only. */
  readonly ipv6?: Ipv6Network | undefined;
  /** The bridge of its Pods. Absent: the container runtime's network is not managed by k8ts. */
  readonly bridge?: string | undefined;
  /** The node's address on the bridge: reachable from all Pods of the cluster. */
  readonly gateway?: string | undefined;
  readonly podCidr?: string | undefined;
  /** Range of all nodes' podCIDRs. */
  readonly clusterCidr?: string | undefined;
  /** CNI configuration of its container runtime, in which the MTU of Pods is set. */
  readonly cniConfigFile?: string | undefined;
}

/** The IPv6 part of a dual-stack Pod network. */
export interface Ipv6Network extends FamilyRanges {
  /** The node's address on the bridge. */
  readonly gateway: string;
}

export interface NetworkContext<Flags extends FlagSet = FlagSet> {
  readonly network: NodeNetwork;
  /** Values of the component's flags. */
  readonly values: FlagValues<Flags>;
  /** Cluster IPs of the Service kube-system/kube-dns, one per family of Pods. Empty: the range of cluster IPs has no address for it. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  transportFor(identity: IdentityName, userAgent: string): Transport;
  /** For files of the component. Created on demand. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** A warning for the user at the terminal. */
  warn(message: string): void;
  /** Aborts a start that waits, when the component is stopped. */
  readonly signal?: AbortSignal;
}

export interface RunningNetworkComponent extends AsyncDisposable {
  /** For `k8ts status`: "iptables", "10.96.0.10 on 10.244.0.1:53". The current one: a getter where it changes. */
  readonly description: string;
  /** Registers the only listener, which is called after each change of the description. Absent: it never changes. */
  onDescriptionChange?(listener: () => void): void;
  /**
   * Called by the kubelet of this process when a Pod has its addresses and before each of its containers is created, which waits for it.
   * Resolves when the component is ready for the Pod's first packet. Rejects with the reason if the Pod must not start now: the kubelet
   * reports it and retries. Bounds its own waiting.
   */
  admitPod?(pod: Pod, addresses: readonly string[]): Promise<void>;
}

export interface NetworkComponent<Flags extends FlagSet = FlagSet> {
  /** "proxy", "dns". */
  readonly name: string;
  /** "node": on every node. "cluster": once per cluster, beside the API server. */
  readonly scope: "node" | "cluster";
  /** Flags of `k8ts up` and, with scope "node", `k8ts join`. */
  readonly flags: Flags;
  /** Resolves when it works. Rejecting, it leaves nothing behind in this process, and is called again later. Disposing stops it and leaves the kernel's state, so that traffic continues during a restart. */
  start(context: NetworkContext<Flags>): Promise<RunningNetworkComponent>;
  /**
   * Called instead of `admitPod` while the component does not run. Resolves with what the Pod needs of it, if it must not start without:
   * "it is selected by …". Undefined: the Pod starts. Rejects if that is not known, and the Pod does not start either. Absent: Pods start.
   */
  needOf?(pod: Pod, context: NetworkContext<Flags>): Promise<string | undefined>;
  /** Removes all of its kernel state. Idempotent; works after any end of the component. */
  cleanUp?(owner: KernelOwner): Promise<void>;
}

/** Keeps the types of the flags. */
export function defineNetworkComponent<Flags extends FlagSet>(component: NetworkComponent<Flags>): NetworkComponent {
  return component;
}
