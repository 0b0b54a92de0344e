/** The version that the etcd of `k8ts envtest` reports, which distinguishes it from a real one. */
export const STAND_IN_VERSION = "none (k8ts)";
