/** Facts about the machine of a kubelet. Given as data: nothing here reads the machine. */
import type { NodeAddress, NodeSystemInfo, Taint } from "../../api/generated/core/v1.ts";
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";

/** Kubernetes version that this kubelet implements. */
export const KUBELET_VERSION = "v1.36.0";

export interface NodeFacts {
  /** cpu, memory, ephemeral-storage, pods, … */
  readonly capacity: ResourceList;
  /** Part of the capacity that is not allocatable. */
  readonly reserved?: ResourceList;
  /** The primary InternalIP first. */
  readonly addresses: readonly NodeAddress[];
  /** Labels besides those that every Node has. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Taints set only when the Node is created. */
  readonly taints?: readonly Taint[];
  readonly podCidrs?: readonly string[];
  readonly providerId?: string;
  /** Port of the kubelet's server. */
  readonly kubeletPort?: number;
  readonly system: Omit<NodeSystemInfo, "containerRuntimeVersion" | "kubeletVersion" | "kubeProxyVersion" | "swap">;
  /** Default: KUBELET_VERSION. */
  readonly kubeletVersion?: string;
}

/** IPs of Pods with hostNetwork, at most one per family. */
export function hostIpsOf({ addresses }: NodeFacts): readonly string[] {
  const internal = addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  const [first] = internal;
  if (first === undefined) return [];
  const other = internal.find((address) => address.includes(":") !== first.includes(":"));
  return other === undefined ? [first] : [first, other];
}
