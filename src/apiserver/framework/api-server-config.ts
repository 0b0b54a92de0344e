/** All settings of the API server, with their defaults in one place. Flags and files are parsed elsewhere (config). */
import { DEFAULT_FEATURE_GATES, type FeatureGates } from "../../api/feature-gates.ts";
import { DEFAULT_ADMISSION_CONFIG, type AdmissionConfig } from "./admission-config.ts";

export interface ApiServerConfig {
  /** Timeout of requests without a timeout of their own (upstream: --request-timeout). */
  readonly requestTimeoutMs: number;
  /** A watch without timeoutSeconds ends after this long to twice as long (--min-request-timeout). */
  readonly minRequestTimeoutMs: number;
  /** Enables FlowSchemas and PriorityLevelConfigurations (--enable-priority-and-fairness). */
  readonly priorityAndFairness: boolean;
  /**
   * With priority and fairness: added to the next, the seats of all priority levels. Without: maximum number of reading requests in flight
   * (--max-requests-inflight).
   */
  readonly maxRequestsInFlight: number;
  /** The same for mutating requests (--max-mutating-requests-inflight). */
  readonly maxMutatingRequestsInFlight: number;
  /** Range of cluster IPs of Services (--service-cluster-ip-range). One CIDR, or one of each family separated by a comma. */
  readonly serviceClusterIpRange: string;
  /** Range of node ports of Services, both ends included (--service-node-port-range). */
  readonly serviceNodePortRange: { readonly first: number; readonly last: number };
  /** Node address types used to reach a kubelet, in order of preference (--kubelet-preferred-address-types). */
  readonly kubeletPreferredAddressTypes: readonly string[];
  /** Serves custom.metrics.k8s.io and external.metrics.k8s.io from the metrics of annotated Pods (--pod-metrics-apis). */
  readonly podMetricsApis: boolean;
  /** Freezes objects that are read: detects code that mutates a shared object, and costs 10 to 20 µs per write. */
  readonly freezeObjects: boolean;
  /** Authorizers in the order in which they are called (--authorization-mode). */
  readonly authorizationModes: readonly string[];
  readonly admission: AdmissionConfig;
  /** Features that are off by default (--feature-gates). */
  readonly featureGates: FeatureGates;
}

export const DEFAULT_API_SERVER_CONFIG: ApiServerConfig = {
  requestTimeoutMs: 60_000,
  minRequestTimeoutMs: 1_800_000,
  priorityAndFairness: true,
  maxRequestsInFlight: 400,
  maxMutatingRequestsInFlight: 200,
  serviceClusterIpRange: "10.96.0.0/12",
  serviceNodePortRange: { first: 30_000, last: 32_767 },
  kubeletPreferredAddressTypes: ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"],
  podMetricsApis: false,
  freezeObjects: false,
  authorizationModes: ["Node", "RBAC"],
  admission: DEFAULT_ADMISSION_CONFIG,
  featureGates: DEFAULT_FEATURE_GATES,
};
