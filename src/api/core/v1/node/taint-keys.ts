/**
 * Taints that the cluster itself sets on Nodes, by upstream's names: node problems, or that a Node is unschedulable. The mapping from
 * conditions to taints is in the node lifecycle controller.
 */
export const TAINT_NOT_READY = "node.kubernetes.io/not-ready";
export const TAINT_UNREACHABLE = "node.kubernetes.io/unreachable";
export const TAINT_UNSCHEDULABLE = "node.kubernetes.io/unschedulable";
export const TAINT_MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure";
export const TAINT_DISK_PRESSURE = "node.kubernetes.io/disk-pressure";
export const TAINT_PID_PRESSURE = "node.kubernetes.io/pid-pressure";
export const TAINT_NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable";
/** Set by an administrator: the machine is permanently off, so its Pods and volumes may be released at once. */
export const TAINT_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
