/**
 * How the probes of a node's containers went, in figures, under upstream's names (/metrics/probes). What is counted of a probe goes when
 * the probe ends, so there is no more of it than there are probes.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { Counter, DEFAULT_BOUNDS_S, Histogram } from "../../base/metrics/metric-series.ts";
import type { Family, HistogramFamily, Labels } from "../../base/metrics/prometheus-text.ts";
import { probeTitle, type ProbeKind } from "./probe-state.ts";

/** Upstream has also "unknown", which none of its probes ever comes to: what could not be asked is not counted. */
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

  /** As upstream, only of those that went well it is told how long they took. */
  ended(probe: CountedProbe, result: CountedResult, durationMs: number): void {
    this.#results.add(resultLabels(probe, result));
    if (result === "successful") this.#durations.observe(durationLabels(probe), durationMs / 1_000);
  }

  /** It will not be asked any more. */
  removed(probe: CountedProbe): void {
    for (const result of RESULTS) this.#results.remove(resultLabels(probe, result));
    this.#durations.remove(durationLabels(probe));
  }

  families(): readonly (Family | HistogramFamily)[] {
    return [this.#durations.family(), this.#results.family()];
  }
}

/** Labels are in the order of their names, as Prometheus's own libraries write them. */
function resultLabels({ pod: { metadata }, container, kind }: CountedProbe, result: CountedResult): Labels {
  const { name, namespace = "", uid = "" } = metadata;
  return { container, namespace, pod: name, pod_uid: uid, probe_type: probeTitle(kind), result };
}

function durationLabels({ pod: { metadata }, container, kind }: CountedProbe): Labels {
  const { name, namespace = "" } = metadata;
  return { container, namespace, pod: name, probe_type: probeTitle(kind) };
}
