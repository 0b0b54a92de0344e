/**
 * metrics.k8s.io/v1beta1 PodMetrics: CPU and memory that the containers of a Pod use. Measured, never stored. Not here: the measurement
 * (apiserver/resources/resource-metrics).
 */
import type { PodMetrics } from "../../generated/metrics.k8s.io/v1beta1.ts";
import { nameColumn, textColumn } from "../../machinery/columns.ts";
import { addQuantities, formatQuantity, parseQuantity, quantityOf } from "../../machinery/quantity.ts";
import { defineResource } from "../../machinery/resource.ts";

export const podMetrics = defineResource<PodMetrics>({
  kind: "PodMetrics",
  plural: "pods",
  singular: "podmetrics",
  scope: "Namespaced",
  served: [{ group: "metrics.k8s.io", version: "v1beta1", schema: "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics" }],
  stored: false,
  verbs: ["get", "list"],

  columns: [
    nameColumn,
    textColumn("cpu", "CPU usage of all containers in cores, averaged over the window", (pod) => total(pod, "cpu")),
    textColumn("memory", "Working set of all containers in bytes", (pod) => total(pod, "memory")),
    textColumn("Window", "Duration over which the CPU usage is averaged", ({ window }) => window),
  ],
});

function total({ containers }: PodMetrics, resource: "cpu" | "memory"): string {
  const amounts = containers.map(({ usage }) => parseQuantity(usage[resource] ?? "0"));
  return formatQuantity(amounts.reduce(addQuantities, quantityOf(0, resource === "cpu" ? "DecimalSI" : "BinarySI")));
}
