/** Builds Endpoints and EndpointSlice of the API servers. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { parseIp } from "../../api/machinery/ip/ip-address.ts";

/** Advertised address of an API server: not loopback, which is invalid in endpoints. */
export interface Advertised {
  readonly address: string;
  readonly port: number;
  /** URL from outside of the cluster, such as https://192.0.2.10:6443; absent: the address and port. */
  readonly url?: string;
}

/** Label that excludes the Endpoints from mirroring, since a slice exists. */
const NOT_MIRRORED = { "endpointslice.kubernetes.io/skip-mirror": "true" };

export function apiServerEndpoints(name: string, addresses: readonly string[], port: number): KubeObject {
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const subsets = addresses.length === 0 ? {} : { subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports }] };
  return { apiVersion: "v1", kind: "Endpoints", metadata: { name, namespace: "default", labels: NOT_MIRRORED }, ...subsets };
}

/** A slice has one address family: that of the server that writes it. */
export function apiServerEndpointSlice(name: string, addresses: readonly string[], self: Advertised): KubeObject {
  const family = parseIp(self.address)?.family;
  const ofFamily = addresses.filter((address) => parseIp(address)?.family === family);
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": name } },
    addressType: family === 6 ? "IPv6" : "IPv4",
    endpoints: ofFamily.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: "https", port: self.port, protocol: "TCP" }],
  } as KubeObject;
}
