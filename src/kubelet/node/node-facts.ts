/** What a kubelet knows about its machine. It comes as data: nothing here reads the machine. */
import type { NodeAddress, NodeSystemInfo, Taint } from "../../api/generated/core/v1.ts";
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";

/** The version that this kubelet behaves as. */
export const KUBELET_VERSION = "v1.36.0";

export interface NodeFacts {
  /** cpu, memory, ephemeral-storage, pods, … */
  readonly capacity: ResourceList;
  /** Of the capacity, what Pods cannot have. */
  readonly reserved?: ResourceList;
  /** The main InternalIP first. */
  readonly addresses: readonly NodeAddress[];
  /** Beside those that every Node has. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** When the Node is made, and only then. */
  readonly taints?: readonly Taint[];
  readonly podCidrs?: readonly string[];
  readonly providerId?: string;
  /** Where the kubelet answers. */
  readonly kubeletPort?: number;
  readonly system: Omit<NodeSystemInfo, "containerRuntimeVersion" | "kubeletVersion" | "kubeProxyVersion" | "swap">;
  /** Default: KUBELET_VERSION. */
  readonly kubeletVersion?: string;
}

/** The addresses of Pods in the node's own network, at most one of each family. */
export function hostIpsOf({ addresses }: NodeFacts): readonly string[] {
  const internal = addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  const [first] = internal;
  if (first === undefined) return [];
  const other = internal.find((address) => address.includes(":") !== first.includes(":"));
  return other === undefined ? [first] : [first, other];
}
