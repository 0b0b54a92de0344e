/** Domain of the names of Services and Pods. */
export const CLUSTER_DOMAIN = "cluster.local";
