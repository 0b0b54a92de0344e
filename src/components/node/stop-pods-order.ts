/**
 * Message of `k8ts up --processes` to its kubelet when the cluster stops: the kubelet then stops its Pods as well, unlike after a signal.
 */

export const STOP_PODS_ORDER = "stop with all pods";

/** Upper limit of the grace period: the user waits for Ctrl-C to finish. */
export const STOP_GRACE_MS = 10_000;
