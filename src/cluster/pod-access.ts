/**
 * Lets the Pods of `k8ts up` reach its API server without exposing it: a server on loopback also listens on the node's address in the Pod
 * network, and the Service "kubernetes" routes there. Explicit bind or advertise addresses take precedence.
 */
import { isLoopback, type ServingConfig } from "../config/api-server-config.ts";

/** `gateway`: the node's address in the Pod network. Undefined: none. */
export function withPodAccess(serving: ServingConfig, gateway: string | undefined): ServingConfig {
  const { bindAddress, additionalBindAddresses = [], advertiseAddress } = serving;
  if (gateway === undefined || advertiseAddress !== undefined || !isLoopback(bindAddress)) return serving;
  return { ...serving, additionalBindAddresses: [...additionalBindAddresses, gateway], advertiseAddress: gateway };
}

/** Explains why Pods cannot reach the server, with the remedy; undefined if they can. */
export function podAccessProblem({ bindAddress, advertiseAddress }: ServingConfig): string | undefined {
  if (!isLoopback(bindAddress) || advertiseAddress !== undefined) return undefined;
  return `Pods cannot reach the API server: it listens on ${bindAddress} only, and the Pod network is not managed by k8ts; --listen 0.0.0.0:6443 makes it reachable for Pods and other machines`;
}
