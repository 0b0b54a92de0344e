/** Names that both sides of joining a machine agree on: the cluster that admits it, and `k8ts join`. */

/** Extra group of bootstrap tokens with which nodes join; kubeadm's. */
export const DEFAULT_NODE_TOKEN_GROUP = "system:bootstrappers:kubeadm:default-node-token";

/** ConfigMap with the address and the CA of the API server, which everyone may read; signed with each bootstrap token. */
export const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" } as const;
export const CLUSTER_INFO_KUBECONFIG = "kubeconfig";
/** Followed by the ID of the token. */
export const CLUSTER_INFO_SIGNATURE_PREFIX = "jws-kubeconfig-";

/** ConfigMap with the network settings that every node needs, which nodes may read. `k8ts up` writes it. */
export const CLUSTER_NETWORK = { namespace: "kube-system", name: "cluster-network" } as const;

/** Entries of that ConfigMap. All are optional. */
export interface ClusterNetworkSettings {
  /** Range of all nodes' podCIDRs; for dual stack one per IP family, separated by a comma, the primary one first. */
  readonly clusterCidr?: string;
  /** Cluster IP of the Service "kubernetes". */
  readonly kubernetesServiceIp?: string;
  /** Cluster IP of the Service kube-system/kube-dns. */
  readonly clusterDns?: string;
  readonly clusterDomain?: string;
}
