/**
 * Lets the Pods of `k8ts up` reach its API server without exposing it: a server on loopback also listens on the node's address in the Pod
 * network, and the Service "kubernetes" routes there. Explicit bind or advertise addresses take precedence.
 */
import { ordered } from "../api/pod-ranges.ts";
import { isLoopback, type ServingConfig } from "../config/api-server-config.ts";
import type { MachineNetwork } from "./machine/machine-network.ts";

/** `network`: absent if this machine runs no containers, empty if its network is not managed by k8ts. */
export function withPodAccess(
  serving: ServingConfig,
  network: Pick<MachineNetwork, "gateway" | "ipv6" | "isIpv6First"> = {},
): ServingConfig {
  const { bindAddress, additionalBindAddresses = [], advertiseAddress } = serving;
  const { gateway, ipv6, isIpv6First } = network;
  if (gateway === undefined || advertiseAddress !== undefined || !isLoopback(bindAddress)) return serving;
  const gateways = ordered(gateway, ipv6?.gateway, isIpv6First);
  // The Service "kubernetes" has one family, the primary one.
  return { ...serving, additionalBindAddresses: [...additionalBindAddresses, ...gateways], ...advertised(gateways) };
}

function advertised([advertiseAddress]: readonly string[]): Pick<ServingConfig, "advertiseAddress"> {
  return advertiseAddress === undefined ? {} : { advertiseAddress };
}

/** Explains why Pods cannot reach the server, with the remedy; undefined if they can. */
export function podAccessProblem({ bindAddress, advertiseAddress }: ServingConfig): string | undefined {
  if (!isLoopback(bindAddress) || advertiseAddress !== undefined) return undefined;
  return `Pods cannot reach the API server: it listens on ${bindAddress} only, and the Pod network is not managed by k8ts; --listen 0.0.0.0:6443 makes it reachable for Pods and other machines`;
}
