/** Everything about the API server that can be set, with its default in one place. Flags and files are read at the door (main). */
import { DEFAULT_ADMISSION_CONFIG, type AdmissionConfig } from "./admission-config.ts";

export interface ApiServerConfig {
  /** Requests that did not say how long they may take are given up after this long (upstream: --request-timeout). */
  readonly requestTimeoutMs: number;
  /** A watch that did not say how long it may take ends after this long or up to twice as long (--min-request-timeout). */
  readonly minRequestTimeoutMs: number;
  /** Whether FlowSchemas and PriorityLevelConfigurations decide which request executes (--enable-priority-and-fairness). */
  readonly priorityAndFairness: boolean;
  /**
   * With priority and fairness: added to the next, the seats of all priority levels. Without: requests that read and execute at once
   * (--max-requests-inflight).
   */
  readonly maxRequestsInFlight: number;
  /** The same for requests that write (--max-mutating-requests-inflight). */
  readonly maxMutatingRequestsInFlight: number;
  /** From which Services get their cluster addresses (--service-cluster-ip-range). One range, or one of each family with a comma. */
  readonly serviceClusterIpRange: string;
  /** From which Services get their node ports, both ends included (--service-node-port-range). */
  readonly serviceNodePortRange: { readonly first: number; readonly last: number };
  /** Which of a node's addresses its kubelet is reached at, best first (--kubelet-preferred-address-types). */
  readonly kubeletPreferredAddressTypes: readonly string[];
  /** Whether what is read is frozen: finds whoever changes a shared object, and costs 10 to 20 µs per write. */
  readonly freezeObjects: boolean;
  /** Who decides what one may do, in the order of asking (--authorization-mode). */
  readonly authorizationModes: readonly string[];
  readonly admission: AdmissionConfig;
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
  freezeObjects: false,
  authorizationModes: ["Node", "RBAC"],
  admission: DEFAULT_ADMISSION_CONFIG,
};
