/** Settings of the node lifecycle controller, by upstream's flags and with its defaults. */
export interface NodeLifecycleSettings {
  /** Maximum silence of a Node before it is marked as lost. --node-monitor-grace-period. Default: 50 s. */
  readonly nodeMonitorGracePeriodMs: number;
  /** The same for a Node that has never posted status. --node-startup-grace-period. Default: 60 s. */
  readonly nodeStartupGracePeriodMs: number;
  /** Interval of the controller's own liveness check. --node-monitor-period. Default: 5 s. */
  readonly nodeMonitorPeriodMs: number;
  /** Nodes of a zone that are evicted per second. --node-eviction-rate. Default: 0.1. */
  readonly nodeEvictionRate: number;
  /** The same while most of a large zone is lost. --secondary-node-eviction-rate. Default: 0.01. */
  readonly secondaryNodeEvictionRate: number;
  /**
   * A zone with more Nodes than this is large. In smaller ones nothing is evicted while most is lost. --large-cluster-size-threshold.
   * Default: 50.
   */
  readonly largeClusterSizeThreshold: number;
  /** Share of lost Nodes from which a zone counts as mostly lost. --unhealthy-zone-threshold. Default: 0.55. */
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
