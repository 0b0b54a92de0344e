/**
 * Metrics of probes under upstream's names (/metrics/probes). The series of a probe are removed with the probe, so that their number is
 * bounded.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { Counter, DEFAULT_BOUNDS_S, Histogram } from "../../base/metrics/metric-series.ts";
import type { Family, HistogramFamily, Labels } from "../../base/metrics/prometheus-text.ts";
import { probeTitle, type ProbeKind } from "./probe-state.ts";

/** Upstream also defines "unknown", which it never reports: a probe that could not be run is not counted. */
const RESULTS = ["successful", "failed"] as const;
export type CountedResult = (typeof RESULTS)[number];

export interface CountedProbe {
  readonly pod: Pod;
  readonly container: string;
  readonly kind: ProbeKind;
}

export class ProbeMetrics {
  readonly #results = new Counter({
    name: "prober_probe_total",
    help: "[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.",
  });
  readonly #durations = new Histogram({
    name: "prober_probe_duration_seconds",
    help: "[ALPHA] Duration in seconds for a probe response.",
    bounds: DEFAULT_BOUNDS_S,
  });

  /** As upstream, only the duration of successful probes is recorded. */
  ended(probe: CountedProbe, result: CountedResult, durationMs: number): void {
    this.#results.add(resultLabels(probe, result));
    if (result === "successful") this.#durations.observe(durationLabels(probe), durationMs / 1_000);
  }

  /** The probe is no longer run. */
  removed(probe: CountedProbe): void {
    for (const result of RESULTS) this.#results.remove(resultLabels(probe, result));
    this.#durations.remove(durationLabels(probe));
  }

  families(): readonly (Family | HistogramFamily)[] {
    return [this.#durations.family(), this.#results.family()];
  }
}

/** Labels in the order of their names, as Prometheus's libraries write them. */
function resultLabels({ pod: { metadata }, container, kind }: CountedProbe, result: CountedResult): Labels {
  const { name, namespace = "", uid = "" } = metadata;
  return { container, namespace, pod: name, pod_uid: uid, probe_type: probeTitle(kind), result };
}

function durationLabels({ pod: { metadata }, container, kind }: CountedProbe): Labels {
  const { name, namespace = "" } = metadata;
  return { container, namespace, pod: name, probe_type: probeTitle(kind) };
}
