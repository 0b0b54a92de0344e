/**
 * What the service proxy of one node programs: the result of computeModel (compute-model.ts), the only input of the appliers. Everything
 * that a decision of the API influences is decided here (topology, traffic policies, terminating endpoints, node addresses); appliers only
 * translate. Sorted and free of duplicates: equal inputs give equal models, and unchanged service ports keep their identity, so that an
 * applier finds what changed by comparing references.
 */

export type Protocol = "TCP" | "UDP" | "SCTP";

export interface ProxyModel {
  /** By `key`, sorted by it. */
  readonly servicePorts: ReadonlyMap<string, ServicePort>;
  /**
   * CIDRs: node ports are served on all addresses of this machine in these ranges, loopback included (of IPv4: it needs route_localnet).
   * All: "0.0.0.0/0" and "::/0".
   */
  readonly nodePortAddresses: readonly string[];
  /** Traffic from these ranges is not masqueraded on its way to cluster IPs. Empty: unknown. */
  readonly podCidrs: readonly string[];
  /**
   * The ranges of cluster IPs, disjoint. As upstream's, the mode nftables drops packets to an address there that no Service of this proxy
   * has: they would take the default route, where another machine may answer them. The other modes let them leave.
   */
  readonly serviceCidrs: readonly string[];
  /** Addresses of the node. Traffic from them passes the source ranges of a load balancer if one of the ranges contains them. */
  readonly nodeIps: readonly string[];
  /** By namespace and name of the Service, sorted. Served by the engine. */
  readonly healthChecks: readonly HealthCheck[];
  /** Load balancer addresses that this node answers for on its networks, sorted. Announced by the engine. */
  readonly announcedIps: readonly string[];
}

/** Answer of a healthCheckNodePort. */
export interface HealthCheck {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** Number of ready endpoints on this node. */
  readonly localEndpoints: number;
}

/** One port of a Service for one IP family. */
export interface ServicePort {
  /** "default/web:http/TCP/4", unique. */
  readonly key: string;
  /** "default/web:http", as events, comments and metrics name it. */
  readonly displayName: string;
  readonly namespace: string;
  readonly name: string;
  readonly portName: string;
  readonly protocol: Protocol;
  readonly family: 4 | 6;
  readonly port: number;
  readonly clusterIp: string;
  readonly externalIps: readonly string[];
  /** Of `status.loadBalancer.ingress` with ipMode VIP. */
  readonly loadBalancerIps: readonly string[];
  readonly nodePort?: number;
  /** CIDRs; empty: all sources may use the load balancer addresses. */
  readonly sourceRanges: readonly string[];
  /** Timeout of ClientIP session affinity. Absent: none. */
  readonly affinitySeconds?: number;
  readonly internalPolicy: "Cluster" | "Local";
  readonly externalPolicy: "Cluster" | "Local";
  readonly healthCheckNodePort?: number;
  /** Usable endpoints for policy Cluster, after topology hints and the fallback to terminating ones. */
  readonly clusterEndpoints: readonly ServiceEndpoint[];
  /** Usable endpoints on this node, for policy Local. */
  readonly localEndpoints: readonly ServiceEndpoint[];
  /** True if any node has a usable endpoint: without a local one, traffic of policy Local is dropped; without any, it is rejected. */
  readonly hasEndpoints: boolean;
  /** "10.244.0.5:53", the serving endpoints of all nodes, whatever the policies. Protocol UDP only, for the clean-up of conntrack entries. */
  readonly servingEndpoints: readonly string[];
}

export interface ServiceEndpoint {
  readonly address: string;
  readonly port: number;
  /** On this node. */
  readonly isLocal: boolean;
}
