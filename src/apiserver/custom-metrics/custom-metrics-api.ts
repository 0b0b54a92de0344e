/**
 * custom.metrics.k8s.io from annotated Pods: a metric of a Pod is the sum of its series, that of a namespace the sum over its Pods, and that
 * of any object with a selector (Service, Deployment, …) the sum over the Pods that it selects. Not here: scraping (pod-metrics-source.ts).
 */
import type { KubeObject, JsonObject } from "../../api/machinery/object.ts";
import { apiVersionOf, isObject } from "../../api/machinery/object.ts";
import {
  labelSelectorFromLabels,
  labelSelectorFromObject,
  NOTHING,
  type LabelSelector,
} from "../../api/machinery/selectors/label-selector.ts";
import { noSuchPath, StatusError } from "../../api/machinery/status-error.ts";
import type { DynamicApi, DynamicResource } from "../framework/apis/dynamic-api.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { metricValue, sumOf, type DescribedObject } from "./metric-values.ts";
import { checkVerb, selectorOf, type MetricNames } from "./metric-request.ts";
import type { PodMetrics, PodMetricsSource } from "./pod-metrics-source.ts";

export const CUSTOM_METRICS_GROUP = "custom.metrics.k8s.io";

/** Instead of a name: all objects. */
const ALL_OBJECTS = "*";
/** Metrics of the namespace itself are read below this segment. */
const NAMESPACE_METRICS = "metrics";

/** Discovery names the usual objects; others with a selector work, too. */
const DISCOVERED: readonly Pick<DynamicResource, "name" | "namespaced">[] = [
  { name: "namespaces", namespaced: false },
  { name: "pods", namespaced: true },
  { name: "services", namespaced: true },
];

export function customMetricsApi(server: ServerContext, version: string, names: MetricNames): DynamicApi {
  return {
    group: CUSTOM_METRICS_GROUP,
    version,
    resources: () =>
      names
        .known()
        .flatMap((metric) => DISCOVERED.map(({ name, namespaced }) => ({ name: `${name}/${metric}`, namespaced, ...MetricValues })))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    refresh: () => names.refresh(),
    onChange: (listener) => names.onChange(listener),
    answer: (request) => answer(server, names.source, request),
  };
}

const MetricValues = { kind: "MetricValueList", verbs: ["get"] } as const;

async function answer(server: ServerContext, source: PodMetricsSource, request: ApiRequest): Promise<Outcome> {
  const { namespace, plural, name, subresource, version } = request;
  if (namespace === "" || name === "") throw noSuchPath();
  checkVerb(request, "get");
  const isNamespace = plural === NAMESPACE_METRICS && subresource === "";
  const metric = isNamespace ? name : subresource;
  if (metric === "") throw noSuchPath();
  const labels = selectorOf(request.options.metricLabelSelector);
  const pods = await source.read(namespace);
  const described = isNamespace ? [wholeNamespace(namespace, pods)] : await describedObjects(server, request, pods);
  const items = described.flatMap(({ object, of }) => {
    const sum = sumOf(of, metric, labels);
    return sum === undefined ? [] : [metricValue(version, object, metric, sum)];
  });
  if (items.length === 0) throw metricNotFound(request, metric, isNamespace ? `namespace ${namespace}` : undefined);
  return valueList(version, items);
}

function valueList(version: string, items: readonly JsonObject[]): Outcome {
  const value = {
    kind: "MetricValueList",
    apiVersion: apiVersionOf({ group: CUSTOM_METRICS_GROUP, version }),
    metadata: {},
    items,
  };
  return { is: "value", code: 200, schema: `io.k8s.metrics.pkg.apis.custom_metrics.${version}.MetricValueList`, value };
}

/** The message of upstream's library for adapters. */
function metricNotFound({ plural, name }: ApiRequest, metric: string, place?: string): StatusError {
  const about = place ?? (name === ALL_OBJECTS ? plural : `${plural} ${name}`);
  return new StatusError("NotFound", `the server could not find the metric ${metric} for ${about}`);
}

/** An object, and the Pods whose values are its own. */
interface Described {
  readonly object: DescribedObject;
  readonly of: readonly PodMetrics[];
}

function wholeNamespace(name: string, pods: readonly PodMetrics[]): Described {
  return { object: { kind: "Namespace", name, apiVersion: "v1" }, of: pods };
}

async function describedObjects(server: ServerContext, request: ApiRequest, pods: readonly PodMetrics[]): Promise<readonly Described[]> {
  const { namespace, name, options } = request;
  const selector = selectorOf(options.labelSelector);
  const isWanted = ({ metadata }: KubeObject): boolean =>
    name === ALL_OBJECTS ? selector.matches(metadata.labels ?? {}) : metadata.name === name;
  if (request.plural === "pods")
    return pods
      .filter(({ pod }) => isWanted(pod))
      .map((one) => ({ object: { kind: "Pod", namespace, name: one.pod.metadata.name, apiVersion: "v1" }, of: [one] }));
  // "deployments.apps": the plural has no dot, the group may have several.
  const [plural = "", ...group] = request.plural.split(".");
  const endpoint = server.endpoints.stored(group.join("."), plural);
  if (endpoint === undefined || endpoint.resource.scope !== "Namespaced") return [];
  const { kind } = endpoint.resource;
  const objects = await server.objects.list({ group: endpoint.name.group, plural }, namespace);
  return objects.filter(isWanted).map((object) => {
    const selected = podSelectorOf(object);
    return {
      object: { kind, namespace, name: object.metadata.name, apiVersion: endpoint.apiVersion },
      of: pods.filter(({ pod }) => selected.matches(pod.metadata.labels ?? {})),
    };
  });
}

/** `spec.selector` in either of its forms: the labels themselves (Service), or a LabelSelector (Deployment). */
function podSelectorOf(object: KubeObject): LabelSelector {
  const { spec } = object as { readonly spec?: JsonObject };
  const selector = spec?.["selector"];
  if (!isObject(selector) || Object.keys(selector).length === 0) return NOTHING;
  if ("matchLabels" in selector || "matchExpressions" in selector) return labelSelectorFromObject(selector);
  return labelSelectorFromLabels(selector as Readonly<Record<string, string>>);
}
