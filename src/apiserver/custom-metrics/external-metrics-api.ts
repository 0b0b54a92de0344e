/**
 * external.metrics.k8s.io from annotated Pods: every series of a metric that any Pod of the namespace exposes, such as an exporter of the
 * lengths of queues elsewhere. Not here: scraping (pod-metrics-source.ts).
 */
import { apiVersionOf } from "../../api/machinery/object.ts";
import { noSuchPath, StatusError } from "../../api/machinery/status-error.ts";
import type { DynamicApi } from "../framework/apis/dynamic-api.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { ApiRequest } from "../framework/request.ts";
import { externalMetricValue } from "./metric-values.ts";
import { checkVerb, selectorOf, type MetricNames } from "./metric-request.ts";
import type { PodMetricsSource } from "./pod-metrics-source.ts";

export const EXTERNAL_METRICS_GROUP = "external.metrics.k8s.io";
const VERSION = "v1beta1";

export function externalMetricsApi(names: MetricNames): DynamicApi {
  return {
    group: EXTERNAL_METRICS_GROUP,
    version: VERSION,
    resources: () => names.known().map((name) => ({ name, namespaced: true, kind: "ExternalMetricValueList", verbs: ["get"] as const })),
    refresh: () => names.refresh(),
    onChange: (listener) => names.onChange(listener),
    answer: (request) => answer(names.source, request),
  };
}

async function answer(source: PodMetricsSource, request: ApiRequest): Promise<Outcome> {
  const { namespace, plural: metric, name } = request;
  if (namespace === "" || name !== "") throw noSuchPath();
  checkVerb(request, "list");
  const labels = selectorOf(request.options.labelSelector);
  const found = (await source.read(namespace)).flatMap(({ metrics, atMs }) =>
    (metrics.get(metric) ?? []).map((series) => ({ series, atMs })),
  );
  if (found.length === 0) throw new StatusError("NotFound", `the server could not find the metric ${metric} for namespace ${namespace}`);
  const items = found
    .filter(({ series }) => labels.matches(series.labels))
    .map(({ series, atMs }) => externalMetricValue(metric, series, atMs));
  const value = {
    kind: "ExternalMetricValueList",
    apiVersion: apiVersionOf({ group: EXTERNAL_METRICS_GROUP, version: VERSION }),
    metadata: {},
    items,
  };
  return { is: "value", code: 200, schema: "io.k8s.metrics.pkg.apis.external_metrics.v1beta1.ExternalMetricValueList", value };
}
