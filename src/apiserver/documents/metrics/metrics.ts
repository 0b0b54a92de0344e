/**
 * /metrics: the server's metrics for Prometheus, with upstream's names and labels where it has the same metric, so that dashboards work.
 * Metrics of the store, of other components of the process (the controllers) and of the process follow.
 */
import { groupResourceOf } from "../../../api/machinery/object.ts";
import type { StoreStatistics } from "../../../store/store.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { Endpoints } from "../../framework/endpoints.ts";
import { KUBERNETES_VERSION } from "../../shared/kubernetes-version.ts";
import { DURATION_BUCKETS_S, type Histogram, type Metrics } from "../../framework/metrics.ts";
import {
  PROMETHEUS_TYPE,
  prometheusText,
  type Family,
  type HistogramFamily,
  type Labels,
  type Sample,
} from "../../../base/metrics/prometheus-text.ts";

export function metricsDocument({ endpoints, metrics, server, fairness, moreMetrics }: DocumentDependencies): Document {
  return {
    name: "metrics",
    answers: (path) => path === "/metrics",
    listedPaths: () => ["/metrics"],
    async answer() {
      const families = [
        BUILD,
        ...requestFamilies(metrics),
        ...watchFamilies(metrics),
        ...(fairness?.metricFamilies() ?? []),
        objects(endpoints),
        ...storeFamilies(await server.store.statistics()),
        ...moreMetrics(),
      ];
      const body = [new TextEncoder().encode(prometheusText(families))];
      return { code: 200, headers: { "content-type": PROMETHEUS_TYPE, "cache-control": "no-cache, private" }, body };
    },
  };
}

const { major, minor, patch } = KUBERNETES_VERSION;

const BUILD: Family = {
  name: "kubernetes_build_info",
  help: "The Kubernetes version of the served API; the value is always 1",
  type: "gauge",
  samples: [{ labels: { git_version: `v${major}.${minor}.${patch}+k8ts`, major, minor }, value: 1 }],
};

/** Upstream's verb label of writes is the method. */
const VERB_LABELS: ReadonlyMap<string, string> = new Map([
  ["CREATE", "POST"],
  ["UPDATE", "PUT"],
]);

/** The keys of the metrics are label values joined by tabs. */
function requestLabels(key: string): Labels {
  const [verb = "", group = "", version = "", resource = "", subresource = "", scope = "", code] = key.split("\t");
  const labels = { component: "apiserver", dry_run: "", group, resource, scope, subresource, verb: VERB_LABELS.get(verb) ?? verb, version };
  return code === undefined ? labels : { code, ...labels };
}

function requestFamilies({ requests, durations, inFlight, rejected }: Metrics): readonly (Family | HistogramFamily)[] {
  return [
    {
      name: "apiserver_request_total",
      help: "Number of completed requests by verb, resource and response code",
      type: "counter",
      samples: samplesOf(requests, requestLabels),
    },
    {
      name: "apiserver_request_duration_seconds",
      help: "Response latency in seconds; for a watch, until it started",
      type: "histogram",
      bounds: DURATION_BUCKETS_S,
      samples: Array.from(durations, ([key, histogram]) => ({ labels: requestLabels(key), ...histogram })),
    },
    {
      name: "apiserver_request_sli_duration_seconds",
      help: "Response latency in seconds without watches and connections",
      type: "histogram",
      bounds: SLI_BOUNDS_S,
      samples: Array.from(durations, ([key, histogram]) => ({ labels: requestLabels(key), ...withSliBounds(histogram) })).filter(
        ({ labels }) => labels["verb"] !== "WATCH" && labels["verb"] !== "CONNECT",
      ),
    },
    {
      name: "apiserver_current_inflight_requests",
      help: "Number of requests currently in flight",
      type: "gauge",
      samples: [
        { labels: { request_kind: "mutating" }, value: inFlight.mutating },
        { labels: { request_kind: "readOnly" }, value: inFlight.readOnly },
      ],
    },
    single("apiserver_dropped_requests_total", "counter", "Number of requests rejected because of the in-flight limit", rejected),
  ];
}

/** Upper bounds in seconds of upstream's service level indicator: some of those that are counted. */
const SLI_BOUNDS_S: readonly number[] = DURATION_BUCKETS_S.filter((bound) => bound >= 0.05 && bound !== 5);

/** The same counts in fewer buckets. */
function withSliBounds({ counts, sum, count }: Histogram): Histogram {
  const merged = SLI_BOUNDS_S.map(() => 0);
  for (const [index, bound] of DURATION_BUCKETS_S.entries()) {
    const bucket = SLI_BOUNDS_S.findIndex((wider) => bound <= wider);
    merged[bucket] = (merged[bucket] ?? 0) + (counts[index] ?? 0);
  }
  return { counts: [...merged, counts.at(-1) ?? 0], sum, count };
}

function watchFamilies({ longRunning, watchEvents }: Metrics): readonly Family[] {
  return [
    {
      name: "apiserver_longrunning_requests",
      help: "Number of currently running watches and connections",
      type: "gauge",
      samples: samplesOf(longRunning, (key) => {
        const [verb = "", group = "", version = "", resource = "", subresource = ""] = key.split("\t");
        return { component: "apiserver", group, resource, scope: "", subresource, verb, version };
      }),
    },
    {
      name: "apiserver_watch_events_total",
      help: "Number of events sent to watches",
      type: "counter",
      samples: samplesOf(watchEvents, (key) => {
        const [group = "", version = "", resource = ""] = key.split("\t");
        return { group, resource, version };
      }),
    },
  ];
}

/** Only resources that are loaded: counting the others would load them. */
function objects(endpoints: Endpoints): Family {
  const loaded = new Map<string, number>();
  for (const { storage, resource } of endpoints.all()) {
    if (resource.stored && storage.cache.isLoaded) loaded.set(groupResourceOf(storage.name.group, storage.name.plural), storage.cache.size);
  }
  return {
    name: "apiserver_storage_objects",
    help: "Number of stored objects by resource",
    type: "gauge",
    samples: Array.from(loaded, ([resource, value]) => ({ labels: { resource }, value })),
  };
}

function storeFamilies(statistics: StoreStatistics): readonly Family[] {
  const { driver, revision, compactedRevision, keys, sizeBytes, usedBytes, watches, commits, syncs } = statistics;
  return [
    {
      name: "apiserver_storage_size_bytes",
      help: "Size of the store on disk in bytes; 0 for a memory store",
      type: "gauge",
      samples: [{ labels: { storage_cluster_id: driver }, value: sizeBytes }],
    },
    single("k8ts_store_used_bytes", "gauge", "Bytes of the store in use by data", usedBytes),
    single("k8ts_store_keys", "gauge", "Number of keys in the store", keys),
    single("k8ts_store_revision", "gauge", "Current revision of the store", revision),
    single("k8ts_store_compacted_revision", "gauge", "Oldest revision in the history of the store", compactedRevision),
    single("k8ts_store_watches", "gauge", "Number of open watches of the store", watches),
    single("k8ts_store_commits_total", "counter", "Number of commits with changes", commits),
    single("k8ts_store_syncs_total", "counter", "Number of syncs to disk; group commits count once", syncs),
  ];
}

function single(name: string, type: Family["type"], help: string, value: number): Family {
  return { name, help, type, samples: [{ labels: {}, value }] };
}

function samplesOf(series: ReadonlyMap<string, number>, labelsOf: (key: string) => Labels): readonly Sample[] {
  return Array.from(series, ([key, value]) => ({ labels: labelsOf(key), value }));
}
