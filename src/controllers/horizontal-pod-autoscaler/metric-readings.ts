/**
 * Reads metrics through the API: metrics.k8s.io for resources, custom.metrics.k8s.io for Pods and objects, external.metrics.k8s.io for
 * everything else. The last two are served by adapters; without one the error says so. Failures are MetricErrors with upstream's messages.
 */
import type { PodMetrics } from "../../api/generated/metrics.k8s.io/v1beta1.ts";
import { durationToMs, parseDuration } from "../../api/machinery/duration.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { parseQuantity, quantityMilliValue } from "../../api/machinery/quantity.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { podMetrics } from "../../api/metrics.k8s.io/v1beta1/pod-metrics.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { messageOf } from "../shared/pod-control.ts";
import type { PodSample, PodSamples } from "./pod-groups.ts";
import { MetricError } from "./replica-calculator.ts";

const CUSTOM = { group: "custom.metrics.k8s.io", version: "v1beta2" };
const EXTERNAL = { group: "external.metrics.k8s.io", version: "v1beta1" };
/** Window of a custom metric that names none: upstream's. */
const CUSTOM_WINDOW_S = 60;

/** One value of the custom or external metrics API. */
type MetricValue = {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  readonly value: string;
};

interface MetricValueList extends KubeObject {
  readonly items?: readonly MetricValue[];
}

/** Quantities in thousandths, rounded up. */
export function milliOf(quantity: string): number {
  return quantityMilliValue(parseQuantity(quantity));
}

export interface ResourceReading {
  readonly namespace: string;
  readonly selector: string;
  readonly resource: string;
  /** "" for all containers of a Pod together. */
  readonly container: string;
}

export async function readResourceSamples(
  client: Client,
  { namespace, selector, resource, container }: ResourceReading,
): Promise<PodSamples> {
  const { items } = await client
    .list(podMetrics, { namespace, labelSelector: selector })
    .catch((error: unknown) => failed(`unable to fetch metrics from resource metrics API: ${messageOf(error)}`));
  if (items.length === 0) throw new MetricError("no metrics returned from resource metrics API");
  return new Map(
    items.flatMap((item) => {
      const value = usageOf(item, resource, container);
      return value === undefined ? [] : [[item.metadata.name, { ...timesOf(item), value }] as const];
    }),
  );
}

/** Undefined if a container is unknown. */
function usageOf({ containers }: PodMetrics, resource: string, container: string): number | undefined {
  const counted = containers.filter(({ name }) => container === "" || name === container);
  const amounts = counted.map(({ usage }) => usage[resource]);
  if (amounts.length === 0 || amounts.includes(undefined)) return undefined;
  return amounts.reduce<number>((sum, amount) => sum + milliOf(amount ?? "0"), 0);
}

function timesOf({ timestamp, window }: PodMetrics): Omit<PodSample, "value"> {
  return { atMs: parseTime(timestamp) ?? 0, windowMs: durationToMs(parseDuration(window)) };
}

export interface CustomReading {
  readonly namespace: string;
  readonly metric: string;
  /** Of the series, "" for all. */
  readonly metricSelector: string;
}

/** A custom metric of every Pod that the selector selects. */
export async function readPodSamples(client: Client, reading: CustomReading & { readonly selector: string }): Promise<PodSamples> {
  const { namespace, metric, metricSelector, selector } = reading;
  const items = await readCustom(client, { plural: "pods", namespace, name: "*", metric, metricSelector, labelSelector: selector });
  if (items.length === 0) throw new MetricError("no metrics returned from custom metrics API");
  return new Map(
    items.map(({ describedObject, timestamp = "", windowSeconds = CUSTOM_WINDOW_S, value }) => [
      describedObject?.name ?? "",
      { atMs: parseTime(timestamp) ?? 0, windowMs: windowSeconds * 1_000, value: milliOf(value) },
    ]),
  );
}

/** A custom metric of one object. `plural`: its resource, "services" or "deployments.apps"; "namespaces" for the namespace itself. */
export async function readObjectValue(
  client: Client,
  reading: CustomReading & { readonly plural: string; readonly name: string },
): Promise<number> {
  const [first] = await readCustom(client, reading);
  if (first === undefined)
    throw new MetricError("unable to fetch metrics from custom metrics API: no metrics returned from custom metrics API");
  return milliOf(first.value);
}

interface CustomRequest extends CustomReading {
  readonly plural: string;
  readonly name: string;
  readonly labelSelector?: string;
}

/** The path of a metric has the form of a subresource; those of the namespace are below "metrics". */
async function readCustom(client: Client, request: CustomRequest): Promise<readonly MetricValue[]> {
  const { plural, namespace, name, metric, metricSelector, labelSelector } = request;
  const isNamespace = plural === "namespaces";
  const kind: ResourceKind<MetricValueList> = {
    kind: "MetricValueList",
    plural: isNamespace ? "metrics" : plural,
    scope: "Namespaced",
    storage: CUSTOM,
  };
  try {
    const list = await client.get(
      kind,
      { namespace, name: isNamespace ? metric : name },
      {
        ...(isNamespace ? {} : { subresource: metric }),
        ...(labelSelector === undefined || labelSelector === "" ? {} : { labelSelector }),
        ...(metricSelector === "" ? {} : { metricLabelSelector: metricSelector }),
      },
    );
    return list.items ?? [];
  } catch (error) {
    const message = isUnserved(error) ? "no custom metrics API (custom.metrics.k8s.io) registered" : messageOf(error);
    return failed(`unable to fetch metrics from custom metrics API: ${message}`);
  }
}

export interface ExternalReading {
  readonly namespace: string;
  readonly metric: string;
  readonly selector: string;
}

/** The sum of all series. */
export async function readExternalValue(client: Client, { namespace, metric, selector }: ExternalReading): Promise<number> {
  const kind: ResourceKind<KubeObject & MetricValue> = {
    kind: "ExternalMetricValue",
    plural: metric,
    scope: "Namespaced",
    storage: EXTERNAL,
  };
  try {
    const { items } = await client.list(kind, { namespace, ...(selector === "" ? {} : { labelSelector: selector }) });
    if (items.length > 0) return items.reduce((sum, { value }) => sum + milliOf(value), 0);
  } catch (error) {
    const message = isUnserved(error) ? `${messageOf(error)} (get ${metric}.${EXTERNAL.group})` : messageOf(error);
    return failed(`unable to fetch metrics from external metrics API: ${message}`);
  }
  throw new MetricError("no metrics returned from external metrics API");
}

/** True if the server does not have the group at all. */
function isUnserved(error: unknown): boolean {
  return isReason(error, "NotFound") && error.message === "the server could not find the requested resource";
}

function failed(message: string): never {
  throw new MetricError(message);
}
