/** What `k8ts up --processes` says to its kubelet when the cluster stops: then it ends its Pods, too, which a signal does not make it do. */

export const STOP_PODS_ORDER = "stop with all pods";

/** Whoever presses Ctrl-C waits for the Pods to end, but not for as long as some of them would like. */
export const STOP_GRACE_MS = 10_000;
