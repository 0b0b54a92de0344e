/** What can be set of the node lifecycle controller, by upstream's flags and with its defaults. */
export interface NodeLifecycleSettings {
  /** How long a Node may be silent before it is taken for lost. --node-monitor-grace-period. Default: 50 s. */
  readonly nodeMonitorGracePeriodMs: number;
  /** The same for a Node that has never said anything. --node-startup-grace-period. Default: 60 s. */
  readonly nodeStartupGracePeriodMs: number;
  /** How often the controller makes sure that it would hear the Nodes. --node-monitor-period. Default: 5 s. */
  readonly nodeMonitorPeriodMs: number;
  /** Nodes of a zone from which Pods are driven away, per second. --node-eviction-rate. Default: 0.1. */
  readonly nodeEvictionRate: number;
  /** The same while most of a large zone is lost. --secondary-node-eviction-rate. Default: 0.01. */
  readonly secondaryNodeEvictionRate: number;
  /** A zone of more Nodes than this is large. In smaller ones nothing is driven away while most is lost. --large-cluster-size-threshold. Default: 50. */
  readonly largeClusterSizeThreshold: number;
  /** Which share of a zone must be lost to count as most. --unhealthy-zone-threshold. Default: 0.55. */
  readonly unhealthyZoneThreshold: number;
}

export const NODE_LIFECYCLE_DEFAULTS: NodeLifecycleSettings = Object.freeze({
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeMonitorPeriodMs: 5_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
});
