/** Metrics of the EndpointSlice controller, with upstream's names, labels and buckets. */
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { CounterDefinition, GaugeDefinition, HistogramDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import type { SlicePlan } from "../shared/service-endpoints/slices.ts";

const SYNCS: CounterDefinition = { type: "counter", name: "endpoint_slice_controller_syncs", help: "Number of EndpointSlice syncs" };
const CHANGES: CounterDefinition = { type: "counter", name: "endpoint_slice_controller_changes", help: "Number of EndpointSlice changes" };
const ADDED: HistogramDefinition = {
  type: "histogram",
  name: "endpoint_slice_controller_endpoints_added_per_sync",
  help: "Number of endpoints added on each Service sync",
  bounds: exponentialBounds(2, 2, 15),
};
const REMOVED: HistogramDefinition = {
  type: "histogram",
  name: "endpoint_slice_controller_endpoints_removed_per_sync",
  help: "Number of endpoints removed on each Service sync",
  bounds: exponentialBounds(2, 2, 15),
};
const ENDPOINTS: GaugeDefinition = {
  type: "gauge",
  name: "endpoint_slice_controller_endpoints_desired",
  help: "Number of endpoints desired",
};
const SLICES: GaugeDefinition = { type: "gauge", name: "endpoint_slice_controller_num_endpoint_slices", help: "Number of EndpointSlices" };
const DESIRED_SLICES: GaugeDefinition = {
  type: "gauge",
  name: "endpoint_slice_controller_desired_endpoint_slices",
  help: "Number of EndpointSlices that would exist with perfect endpoint allocation",
};

interface Counts {
  readonly endpoints: number;
  readonly slices: number;
  readonly desiredSlices: number;
}

const NONE: Counts = { endpoints: 0, slices: 0, desiredSlices: 0 };

/** Sums over all Services. */
export class SliceCounts {
  /** By key of the Service; an entry is removed with it. */
  readonly #services = new Map<string, Counts>();
  #sum = NONE;

  set(service: string, counts: Counts | undefined, metrics: MetricSet): void {
    const before = this.#services.get(service) ?? NONE;
    const { endpoints, slices, desiredSlices } = counts ?? NONE;
    if (counts === undefined) this.#services.delete(service);
    else this.#services.set(service, counts);
    this.#sum = {
      endpoints: this.#sum.endpoints + endpoints - before.endpoints,
      slices: this.#sum.slices + slices - before.slices,
      desiredSlices: this.#sum.desiredSlices + desiredSlices - before.desiredSlices,
    };
    metrics.set(ENDPOINTS, {}, this.#sum.endpoints);
    metrics.set(SLICES, {}, this.#sum.slices);
    metrics.set(DESIRED_SLICES, {}, this.#sum.desiredSlices);
  }
}

export function recordSync(result: "success" | "error", metrics: MetricSet): void {
  metrics.count(SYNCS, { result });
}

/** What was written. Only slices that changed are compared: a Service may have thousands of endpoints. */
export function recordChanges({ create, update, remove }: SlicePlan, existing: readonly EndpointSlice[], metrics: MetricSet): void {
  const changes = { create: create.length, update: update.length, delete: remove.length };
  for (const [operation, count] of Object.entries(changes)) if (count > 0) metrics.count(CHANGES, { operation }, count);
  const updated = new Set(update.map(({ metadata }) => metadata.name));
  const before = addressesOf([...existing.filter(({ metadata }) => updated.has(metadata.name)), ...remove]);
  const after = addressesOf([...create, ...update]);
  metrics.observe(ADDED, {}, [...after].filter((address) => !before.has(address)).length);
  metrics.observe(REMOVED, {}, [...before].filter((address) => !after.has(address)).length);
}

/** The counts of a Service after its slices were written. */
export function countsAfter(plan: SlicePlan, existing: readonly EndpointSlice[], endpointsPerSliceMax: number): Counts {
  const replaced = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata.name));
  const slices = [...existing.filter(({ metadata }) => !replaced.has(metadata.name)), ...plan.update, ...plan.create];
  const endpoints = slices.reduce((sum, { endpoints: own }) => sum + (own?.length ?? 0), 0);
  // At least one slice exists for every Service.
  return { endpoints, slices: slices.length, desiredSlices: Math.max(1, Math.ceil(endpoints / endpointsPerSliceMax)) };
}

function addressesOf(slices: readonly Pick<EndpointSlice, "endpoints">[]): ReadonlySet<string> {
  return new Set(slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)));
}
