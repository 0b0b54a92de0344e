/**
 * metrics.k8s.io/v1beta1 NodeMetrics: CPU and memory that a node uses. Measured, never stored. Not here: the measurement
 * (apiserver/resources/resource-metrics).
 */
import type { NodeMetrics } from "../../generated/metrics.k8s.io/v1beta1.ts";
import { nameColumn, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";

export const nodeMetrics = defineResource<NodeMetrics>({
  kind: "NodeMetrics",
  plural: "nodes",
  singular: "nodemetrics",
  scope: "Cluster",
  served: [{ group: "metrics.k8s.io", version: "v1beta1", schema: "io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics" }],
  stored: false,
  verbs: ["get", "list"],

  columns: [
    nameColumn,
    textColumn("cpu", "CPU usage in cores, averaged over the window", ({ usage }) => usage["cpu"] ?? ""),
    textColumn("memory", "Working set in bytes", ({ usage }) => usage["memory"] ?? ""),
    textColumn("Window", "Duration over which the CPU usage is averaged", ({ window }) => window),
  ],
});
