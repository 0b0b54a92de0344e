/** Metrics of Nodes by zone, with upstream's names and labels. */
import { isNodeReady, zoneOf } from "../../api/core/v1/node/health.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import type { CounterDefinition, GaugeDefinition, MetricSet } from "../../base/metrics/metric-set.ts";

const EVICTIONS: CounterDefinition = {
  type: "counter",
  name: "node_collector_evictions_total",
  help: "Number of Node evictions that happened since current instance of NodeController started.",
};
const HEALTH: GaugeDefinition = {
  type: "gauge",
  name: "node_collector_zone_health",
  help: "Gauge measuring percentage of healthy nodes per zone.",
};
const SIZE: GaugeDefinition = {
  type: "gauge",
  name: "node_collector_zone_size",
  help: "Gauge measuring number of registered Nodes per zones.",
};
const UNHEALTHY: GaugeDefinition = {
  type: "gauge",
  name: "node_collector_unhealthy_nodes_in_zone",
  help: "Gauge measuring number of not Ready Nodes per zones.",
};

/** Zones are labels, which users may change at will: of more there are no metrics. */
const ZONES_MAX = 1_000;

/** The Node got its NoExecute taint. */
export function recordEviction(node: Node, metrics: MetricSet): void {
  metrics.count(EVICTIONS, { zone: zoneOf(node) });
}

/** `counted`: zones of earlier calls; a zone without Nodes stays, with zeros, as upstream. */
export function recordZones(nodes: readonly Node[], counted: Set<string>, metrics: MetricSet): void {
  const zones = new Map([...counted].map((zone) => [zone, { size: 0, ready: 0 }]));
  for (const node of nodes) {
    const zone = zoneOf(node);
    if (!counted.has(zone) && counted.size >= ZONES_MAX) continue;
    const { size, ready } = zones.get(zone) ?? { size: 0, ready: 0 };
    zones.set(zone, { size: size + 1, ready: ready + (isNodeReady(node) ? 1 : 0) });
    counted.add(zone);
  }
  for (const [zone, { size, ready }] of zones) {
    metrics.set(SIZE, { zone }, size);
    metrics.set(UNHEALTHY, { zone }, size - ready);
    metrics.set(HEALTH, { zone }, size === 0 ? 100 : (100 * ready) / size);
  }
}
