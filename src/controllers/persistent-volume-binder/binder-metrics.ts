/** Metrics of the binder, with upstream's names and labels. */
import { claimClass, volumeModeOf } from "../../api/core/v1/persistent-volume/binding.ts";
import { MIGRATED_PLUGINS } from "../../api/core/v1/persistent-volume/migrated-plugins.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { CounterDefinition, GaugeDefinition, HistogramDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import type { Labels } from "../../base/metrics/prometheus-text.ts";
import type { Change } from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { ObjectCounts, type Series } from "../shared/object-counts.ts";

const TOTAL_VOLUMES: GaugeDefinition = {
  type: "gauge",
  name: "pv_collector_total_pv_count",
  help: "Number of PersistentVolumes, by plugin and volume mode",
};
const BOUND_VOLUMES: GaugeDefinition = { type: "gauge", name: "pv_collector_bound_pv_count", help: "Number of bound PersistentVolumes" };
const UNBOUND_VOLUMES: GaugeDefinition = {
  type: "gauge",
  name: "pv_collector_unbound_pv_count",
  help: "Number of PersistentVolumes that are not bound",
};
const BOUND_CLAIMS: GaugeDefinition = { type: "gauge", name: "pv_collector_bound_pvc_count", help: "Number of bound claims" };
const UNBOUND_CLAIMS: GaugeDefinition = {
  type: "gauge",
  name: "pv_collector_unbound_pvc_count",
  help: "Number of claims that are not bound",
};
const RETROACTIVE: CounterDefinition = {
  type: "counter",
  name: "retroactive_storageclass_total",
  help: "Number of claims that were assigned a default class after their creation",
};
const RETROACTIVE_ERRORS: CounterDefinition = {
  type: "counter",
  name: "retroactive_storageclass_errors_total",
  help: "Number of such assignments that failed",
};
const OPERATION_SECONDS: HistogramDefinition = {
  type: "histogram",
  name: "volume_operation_total_seconds",
  help: "Time from the start of provisioning or deleting a volume to its end",
  bounds: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
};
const OPERATION_ERRORS: CounterDefinition = {
  type: "counter",
  name: "volume_operation_errors_total",
  help: "Number of failed operations on volumes",
};

/** One per start of the controller. */
export class BinderMetrics {
  readonly #volumes = new ObjectCounts();
  readonly #claims = new ObjectCounts();
  /** Start of provisioning, by claim, and of deletion, by volume; an entry is removed with its object. */
  readonly #begun = new Map<string, { readonly atMs: number; readonly labels: Labels }>();

  countVolume({ is, object }: Change<PersistentVolume>, metrics: MetricSet): void {
    this.#volumes.set(objectText(object.metadata), is === "deleted" ? [] : volumeSeries(object), metrics);
  }

  countClaim({ is, object }: Change<PersistentVolumeClaim>, metrics: MetricSet): void {
    this.#claims.set(objectText(object.metadata), is === "deleted" ? [] : [claimSeries(object)], metrics);
  }

  begin(object: string, operation: "provision" | "delete", plugin: string, nowMs: number): void {
    if (this.#begun.has(object)) return;
    this.#begun.set(object, { atMs: nowMs, labels: { plugin_name: plugin, operation_name: operation } });
  }

  end(object: string, nowMs: number, metrics: MetricSet): void {
    const begun = this.#begun.get(object);
    if (begun === undefined) return;
    this.#begun.delete(object);
    metrics.observe(OPERATION_SECONDS, begun.labels, (nowMs - begun.atMs) / 1_000);
  }

  fail(object: string, metrics: MetricSet): void {
    const begun = this.#begun.get(object);
    if (begun !== undefined) metrics.count(OPERATION_ERRORS, begun.labels);
  }

  forget(object: string): void {
    this.#begun.delete(object);
  }
}

export function countRetroactiveClass(result: "success" | "error", metrics: MetricSet): void {
  metrics.count(RETROACTIVE);
  if (result === "error") metrics.count(RETROACTIVE_ERRORS);
}

function volumeSeries(volume: PersistentVolume): readonly Series[] {
  const { spec = {}, status } = volume;
  const bound = status?.phase === "Bound" ? BOUND_VOLUMES : UNBOUND_VOLUMES;
  return [
    { definition: TOTAL_VOLUMES, labels: { plugin_name: pluginOf(volume), volume_mode: volumeModeOf(volume) } },
    { definition: bound, labels: { storage_class: spec.storageClassName ?? "" } },
  ];
}

function claimSeries(claim: PersistentVolumeClaim): Series {
  const labels = {
    namespace: claim.metadata.namespace ?? "",
    storage_class: claimClass(claim),
    volume_attributes_class: claim.spec?.volumeAttributesClassName ?? "",
  };
  return { definition: claim.status?.phase === "Bound" ? BOUND_CLAIMS : UNBOUND_CLAIMS, labels };
}

const PLUGINS = [
  ["hostPath", "kubernetes.io/host-path"],
  ["local", "kubernetes.io/local-volume"],
  ["nfs", "kubernetes.io/nfs"],
  ["iscsi", "kubernetes.io/iscsi"],
  ["fc", "kubernetes.io/fc"],
  ...MIGRATED_PLUGINS.map(({ source, plugin }) => [source, plugin] as const),
] as const;

/** "kubernetes.io/csi:<driver>" for a driver's volume. */
export function pluginOf({ spec = {} }: PersistentVolume): string {
  if (spec.csi !== undefined) return `kubernetes.io/csi:${spec.csi.driver}`;
  return PLUGINS.find(([source]) => spec[source] !== undefined)?.[1] ?? "N/A";
}
