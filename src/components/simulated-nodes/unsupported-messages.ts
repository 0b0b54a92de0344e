/** Messages for operations that simulated Pods do not support: the same for nodes inside and outside of the API server's process. Pure. */

export interface SimulatedContainerName {
  readonly pod: string;
  readonly container: string;
}

export function attachUnsupportedMessage({ pod, container }: SimulatedContainerName): string {
  return `cannot attach to container "${container}" in pod "${pod}": it is simulated and has no process; use kubectl logs --follow or kubectl exec`;
}

export function portForwardUnsupportedMessage(pod: string): string {
  return `cannot forward ports of pod "${pod}": it is simulated and has no listening sockets`;
}

/** `what`: "proxy on node \"node-0\"". */
export function networkUnsupportedMessage(what: string): string {
  return `cannot handle ${what}: simulated Pods and nodes have no network`;
}
