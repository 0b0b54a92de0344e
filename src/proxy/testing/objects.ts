/** Builders of Services and EndpointSlices for the tests of the proxy; each names only what a case is about. */
import type { Service, ServiceSpec } from "../../api/generated/core/v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";

export interface ServiceOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string; readonly ipMode?: "VIP" | "Proxy" }[];
}

/** "default/web" on 10.96.0.10:80 unless `spec` says otherwise. */
export function aService(name: string, spec: Partial<ServiceSpec> = {}, { labels, ingress }: ServiceOptions = {}): Service {
  const clusterIp = spec.clusterIP ?? "10.96.0.10";
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "default", name, ...(labels === undefined ? {} : { labels }) },
    spec: { type: "ClusterIP", clusterIP: clusterIp, clusterIPs: [clusterIp], ports: [{ port: 80, protocol: "TCP" }], ...spec },
    ...(ingress === undefined ? {} : { status: { loadBalancer: { ingress } } }),
  };
}

export interface SliceOptions {
  readonly name?: string;
  readonly service?: string;
  readonly ports?: EndpointSlice["ports"];
  readonly addressType?: EndpointSlice["addressType"];
  readonly labels?: Readonly<Record<string, string>>;
}

/** A slice of the Service "web" with port 8080, unnamed. */
export function aSlice(endpoints: readonly Endpoint[], options: SliceOptions = {}): EndpointSlice {
  const { name = "web-1", service = "web", ports = [{ name: "", port: 8080, protocol: "TCP" }], addressType = "IPv4", labels } = options;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace: "default", name, labels: { "kubernetes.io/service-name": service, ...labels } },
    addressType,
    endpoints: [...endpoints],
    ports,
  };
}

/** Ready, on no known node. */
export function anEndpoint(address: string, more: Partial<Endpoint> = {}): Endpoint {
  return { addresses: [address], conditions: { ready: true, serving: true, terminating: false }, ...more };
}

export const TERMINATING = { ready: false, serving: true, terminating: true };
export const NOT_READY = { ready: false, serving: false, terminating: false };
