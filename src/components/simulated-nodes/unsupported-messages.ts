/** What cannot be had of Pods that are only played, in words: the same whether their nodes are in the API server's process or not. Pure. */

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
