/** What the endpoints of the API servers look like, as both kinds say it. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { parseIp } from "../../api/machinery/ip-address.ts";

/** Where clients reach an API server: an address that is not loopback, since endpoints may not be. */
export interface Advertised {
  readonly address: string;
  readonly port: number;
  /** Where it is reached from outside of the cluster, such as https://192.0.2.10:6443; absent: at the address and port. */
  readonly url?: string;
}

/** Who mirrors Endpoints to EndpointSlices leaves these alone: there is a slice. */
const NOT_MIRRORED = { "endpointslice.kubernetes.io/skip-mirror": "true" };

export function apiServerEndpoints(name: string, addresses: readonly string[], port: number): KubeObject {
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const subsets = addresses.length === 0 ? {} : { subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports }] };
  return { apiVersion: "v1", kind: "Endpoints", metadata: { name, namespace: "default", labels: NOT_MIRRORED }, ...subsets };
}

/** A slice has addresses of one family: that of the server that writes it. */
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
