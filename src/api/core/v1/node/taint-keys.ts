/**
 * The taints that the cluster itself puts on Nodes, by upstream's names: what is wrong with the machine, or that nobody shall use it.
 * Which condition of a Node calls for which, and who writes them, is the node lifecycle controller's business.
 */
export const TAINT_NOT_READY = "node.kubernetes.io/not-ready";
export const TAINT_UNREACHABLE = "node.kubernetes.io/unreachable";
export const TAINT_UNSCHEDULABLE = "node.kubernetes.io/unschedulable";
export const TAINT_MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure";
export const TAINT_DISK_PRESSURE = "node.kubernetes.io/disk-pressure";
export const TAINT_PID_PRESSURE = "node.kubernetes.io/pid-pressure";
export const TAINT_NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable";
/** Somebody says that the machine is off and stays so: what was on it may be forgotten at once. */
export const TAINT_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
