/** Metrics of the attach/detach controller, with upstream's names and labels. */
import type { CounterDefinition, GaugeDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import { ObjectCounts } from "../shared/object-counts.ts";
import type { ForceReason } from "./plan.ts";

const VOLUMES: GaugeDefinition = {
  type: "gauge",
  name: "attachdetach_controller_total_volumes",
  help: "Number of volumes that are, and that should be, attached to a node",
};
const IN_USE: GaugeDefinition = {
  type: "gauge",
  name: "storage_count_attachable_volumes_in_use",
  help: "Number of attachable volumes that Pods of a node use",
};
const FORCED: CounterDefinition = {
  type: "counter",
  name: "attach_detach_controller_attachdetach_controller_forced_detaches",
  help: "Number of detachments without the consent of the node",
};

export interface VolumeCounts {
  readonly driver: string;
  /** Nodes whose Pods need it. */
  readonly needed: readonly string[];
  /** Nodes that it is attached to. */
  readonly attached: readonly string[];
}

export class AttachMetrics {
  readonly #counts = new ObjectCounts();

  /** By volume; undefined removes it. */
  set(volume: string, counts: VolumeCounts | undefined, metrics: MetricSet): void {
    const { driver, needed, attached } = counts ?? { driver: "", needed: [], attached: [] };
    const plugin = `kubernetes.io/csi:${driver}`;
    const total = (state: string) => ({ definition: VOLUMES, labels: { plugin_name: plugin, state } });
    this.#each(volume, "needed", needed, metrics, (node) => [
      total("desired_state_of_world"),
      { definition: IN_USE, labels: { node, volume_plugin: plugin } },
    ]);
    this.#each(volume, "attached", attached, metrics, () => [total("actual_state_of_world")]);
  }

  /** Nodes of each volume and list, to remove what is gone. */
  readonly #nodes = new Map<string, readonly string[]>();

  #each(
    volume: string,
    list: string,
    nodes: readonly string[],
    metrics: MetricSet,
    seriesOf: (node: string) => Parameters<ObjectCounts["set"]>[1],
  ): void {
    const key = `${list} ${volume}`;
    for (const node of this.#nodes.get(key) ?? []) if (!nodes.includes(node)) this.#counts.set(`${key} ${node}`, [], metrics);
    for (const node of nodes) this.#counts.set(`${key} ${node}`, seriesOf(node), metrics);
    if (nodes.length === 0) this.#nodes.delete(key);
    else this.#nodes.set(key, nodes);
  }
}

export function countForced(reason: ForceReason, metrics: MetricSet): void {
  metrics.count(FORCED, { reason });
}
