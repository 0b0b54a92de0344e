/**
 * Lets the Pods of `k8ts up` reach its API server without opening it to the outside: a server on loopback also listens on the node's address
 * on the Pod network, and the Service "kubernetes" leads there. Whoever says where the server listens or is advertised decides otherwise.
 */
import { isLoopback, type ServingConfig } from "../config/api-server-config.ts";

/** `gateway`: the node's address on the Pod network. Undefined: there is none. */
export function withPodAccess(serving: ServingConfig, gateway: string | undefined): ServingConfig {
  const { bindAddress, additionalBindAddresses = [], advertiseAddress } = serving;
  if (gateway === undefined || advertiseAddress !== undefined || !isLoopback(bindAddress)) return serving;
  return { ...serving, additionalBindAddresses: [...additionalBindAddresses, gateway], advertiseAddress: gateway };
}

/** Whether Pods have no way to the server, and what helps; undefined if they have one. */
export function podAccessProblem({ bindAddress, advertiseAddress }: ServingConfig): string | undefined {
  if (!isLoopback(bindAddress) || advertiseAddress !== undefined) return undefined;
  return `Pods cannot reach the API server: it listens on ${bindAddress} only, and the Pod network is not managed by k8ts; --listen 0.0.0.0:6443 makes it reachable for Pods and other machines`;
}
