/**
 * The objects through which a cluster finds its DNS server: the Service kube-system/kube-dns with its usual address, and an EndpointSlice
 * per server; and the permissions of a server, which are CoreDNS'. Pure.
 */
import type { ClusterRole, ClusterRoleBinding } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { Service, ServiceAccount, ServiceSpec } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { serviceAccountIdentity } from "../../api/identities.ts";
import type { Draft } from "../../client/client.ts";

const NAMESPACE = "kube-system";
/** Names of kubeadm. */
const ACCOUNT = "coredns";
const ROLE = "system:coredns";

export const DNS_SERVICE_KEY = { namespace: NAMESPACE, name: "kube-dns" };
export const DNS_IDENTITY = serviceAccountIdentity(NAMESPACE, ACCOUNT);

export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
const MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";
/** The EndpointSlice controller leaves slices of other managers alone. */
const MANAGER = "dns.k8ts";

export const dnsAccount: Draft<ServiceAccount> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { namespace: NAMESPACE, name: ACCOUNT },
};

export const dnsRole: Draft<ClusterRole> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: ROLE },
  rules: [
    { apiGroups: [""], resources: ["services", "pods", "namespaces"], verbs: ["list", "watch"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  ],
};

export const dnsRoleBinding: Draft<ClusterRoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: ROLE },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ROLE },
  subjects: [{ kind: "ServiceAccount", name: ACCOUNT, namespace: NAMESPACE }],
};

export const DNS_PORT = 53;
export const METRICS_PORT = 9153;

/** Without a selector: its endpoints are the slices of the servers. */
export function dnsService(clusterIps: readonly string[]): Draft<Service> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...DNS_SERVICE_KEY,
      labels: { "k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS" },
      annotations: { "prometheus.io/port": String(METRICS_PORT), "prometheus.io/scrape": "true" },
    },
    spec: {
      ...(clusterIps[0] === undefined ? {} : { clusterIP: clusterIps[0] }),
      ...addressFields(clusterIps),
      ports: [
        { name: "dns", protocol: "UDP", port: DNS_PORT, targetPort: DNS_PORT },
        { name: "dns-tcp", protocol: "TCP", port: DNS_PORT, targetPort: DNS_PORT },
        { name: "metrics", protocol: "TCP", port: METRICS_PORT, targetPort: METRICS_PORT },
      ],
    },
  };
}

/** Of the Service, one address per family. */
export function addressFields(clusterIps: readonly string[]): Pick<ServiceSpec, "clusterIPs" | "ipFamilies" | "ipFamilyPolicy"> {
  return {
    clusterIPs: clusterIps,
    ipFamilies: clusterIps.map(familyOf),
    ipFamilyPolicy: clusterIps.length > 1 ? "RequireDualStack" : "SingleStack",
  };
}

function familyOf(address: string): "IPv4" | "IPv6" {
  return address.includes(":") ? "IPv6" : "IPv4";
}

/** Names of a server's slices, one per family. */
export function dnsSliceName(service: string, { instance, address }: Pick<DnsEndpoint, "instance" | "address">): string {
  return familyOf(address) === "IPv4" ? `${service}-${instance}` : `${service}-${instance}-ipv6`;
}

/** A DNS server that runs. */
export interface DnsEndpoint {
  /** Distinguishes the servers of a cluster; part of an object's name. */
  readonly instance: string;
  readonly nodeName: string;
  readonly address: string;
  readonly port: number;
  /** Absent: no metrics are served. */
  readonly metricsPort?: number | undefined;
  /** False until the first sync: names of the cluster are not known. */
  readonly isReady: boolean;
}

/** Owned by the Service: deleted with it. */
export function dnsSlice(endpoint: DnsEndpoint, service: Service): Draft<EndpointSlice> {
  const { nodeName, address, port, metricsPort, isReady } = endpoint;
  const { name, uid = "" } = service.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      ...{ namespace: NAMESPACE, name: dnsSliceName(name, endpoint) },
      labels: { [SERVICE_NAME_LABEL]: name, [MANAGED_BY_LABEL]: MANAGER },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType: familyOf(address),
    endpoints: [{ addresses: [address], conditions: { ready: isReady, serving: isReady, terminating: false }, nodeName }],
    ports: [
      { name: "dns", protocol: "UDP", port },
      { name: "dns-tcp", protocol: "TCP", port },
      ...(metricsPort === undefined ? [] : [{ name: "metrics", protocol: "TCP" as const, port: metricsPort }]),
    ],
  };
}

/** Whether another DNS server has the Service: one with Pods, that a user installed. It is left alone. */
export function isForeign({ spec }: Service): boolean {
  return Object.keys(spec?.selector ?? {}).length > 0 || spec?.type === "ExternalName";
}
