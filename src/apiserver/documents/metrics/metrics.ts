/**
 * /metrics: the server's metrics for Prometheus, with upstream's names and labels where it has the same metric, so that dashboards work.
 * Metrics of other components of the process (the controllers) follow. Not here: process metrics (memory, file descriptors), which come
 * from the host.
 */
import { groupResourceOf } from "../../../api/machinery/object.ts";
import type { StoreStatistics } from "../../../store/store.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { Endpoints } from "../../framework/endpoints.ts";
import { DURATION_BUCKETS_S, type Metrics } from "../../framework/metrics.ts";
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
      help: "Requests that were answered, by what was asked for and the code of the answer",
      type: "counter",
      samples: samplesOf(requests, requestLabels),
    },
    {
      name: "apiserver_request_duration_seconds",
      help: "How long answers took; of a watch, until it began",
      type: "histogram",
      bounds: DURATION_BUCKETS_S,
      samples: Array.from(durations, ([key, histogram]) => ({ labels: requestLabels(key), ...histogram })),
    },
    {
      name: "apiserver_current_inflight_requests",
      help: "Requests that are being worked on now",
      type: "gauge",
      samples: [
        { labels: { request_kind: "mutating" }, value: inFlight.mutating },
        { labels: { request_kind: "readOnly" }, value: inFlight.readOnly },
      ],
    },
    single("apiserver_dropped_requests_total", "counter", "Requests that were refused because too many were under way", rejected),
  ];
}

function watchFamilies({ longRunning, watchEvents }: Metrics): readonly Family[] {
  return [
    {
      name: "apiserver_longrunning_requests",
      help: "Watches and connections that are running now",
      type: "gauge",
      samples: samplesOf(longRunning, (key) => {
        const [verb = "", group = "", version = "", resource = "", subresource = ""] = key.split("\t");
        return { component: "apiserver", group, resource, scope: "", subresource, verb, version };
      }),
    },
    {
      name: "apiserver_watch_events_total",
      help: "Events that were sent to watches",
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
    help: "Objects that are stored, by resource",
    type: "gauge",
    samples: Array.from(loaded, ([resource, value]) => ({ labels: { resource }, value })),
  };
}

function storeFamilies(statistics: StoreStatistics): readonly Family[] {
  const { driver, revision, compactedRevision, keys, sizeBytes, usedBytes, watches, commits, syncs } = statistics;
  return [
    {
      name: "apiserver_storage_size_bytes",
      help: "What the store takes on disk; 0 where there is no disk",
      type: "gauge",
      samples: [{ labels: { storage_cluster_id: driver }, value: sizeBytes }],
    },
    single("k8ts_store_used_bytes", "gauge", "The part of the store's size that holds data", usedBytes),
    single("k8ts_store_keys", "gauge", "Keys in the store", keys),
    single("k8ts_store_revision", "gauge", "The newest revision of the store", revision),
    single("k8ts_store_compacted_revision", "gauge", "The oldest revision of which the store keeps history", compactedRevision),
    single("k8ts_store_watches", "gauge", "Watches of the store that are open", watches),
    single("k8ts_store_commits_total", "counter", "Commits that changed something", commits),
    single("k8ts_store_syncs_total", "counter", "How often commits waited to be durable; commits that share one count once", syncs),
  ];
}

function single(name: string, type: Family["type"], help: string, value: number): Family {
  return { name, help, type, samples: [{ labels: {}, value }] };
}

function samplesOf(series: ReadonlyMap<string, number>, labelsOf: (key: string) => Labels): readonly Sample[] {
  return Array.from(series, ([key, value]) => ({ labels: labelsOf(key), value }));
}
