/**
 * Converts metrics between autoscaling/v2 and the older form in which autoscaling/v1 keeps them in annotations. The older form has no
 * target type; it follows from which of its numbers are set.
 */
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from "../../generated/autoscaling/v2.ts";
import { defined } from "../../members.ts";
import type { Members } from "./go-json.ts";
import { NO_REFERENCE, readReference, readSelector, writeReference, writeSelector } from "./convert-reference.ts";

const ZERO = "0";

// ── spec ──

/** In the member order of upstream's types, which is that of the text. */
export function writeMetricSpec({ type, object, pods, resource, containerResource, external }: MetricSpec): object {
  return defined({
    type,
    object: object && {
      target: writeReference(object.describedObject),
      metricName: object.metric.name,
      targetValue: object.target.value ?? ZERO,
      selector: writeSelector(object.metric.selector),
      averageValue: object.target.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? ZERO,
      selector: writeSelector(pods.metric.selector),
    },
    resource: resource && { name: resource.name, ...writeResourceTarget(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...writeResourceTarget(containerResource.target),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: writeSelector(external.metric.selector),
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  });
}

function writeResourceTarget({ averageUtilization, averageValue }: MetricTarget): object {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
}

export function readMetricSpec(metric: Members): MetricSpec {
  return defined<MetricSpec>({
    type: metric.text("type") ?? "",
    object: metric.object("object", (source) => ({
      describedObject: source.object("target", readReference) ?? NO_REFERENCE,
      target: objectTarget(source.quantity("targetValue") ?? ZERO, source.quantity("averageValue")),
      metric: readIdentifier(source, "selector"),
    })),
    pods: metric.object("pods", (source) => ({
      metric: readIdentifier(source, "selector"),
      target: { type: "AverageValue", averageValue: source.quantity("targetAverageValue") ?? ZERO },
    })),
    resource: metric.object("resource", (source) => ({ name: source.text("name") ?? "", target: resourceTarget(source) })),
    containerResource: metric.object("containerResource", (source) => ({
      name: source.text("name") ?? "",
      target: resourceTarget(source),
      container: source.text("container") ?? "",
    })),
    external: metric.object("external", (source) => ({
      metric: readIdentifier(source, "metricSelector"),
      target: externalTarget(source.quantity("targetValue"), source.quantity("targetAverageValue")),
    })),
  });
}

/** The older form always has a value; beside an average, zero means none. */
function objectTarget(value: string, averageValue: string | undefined): MetricTarget {
  if (averageValue === undefined) return { type: "Value", value };
  return value === ZERO ? { type: "AverageValue", averageValue } : { type: "AverageValue", value, averageValue };
}

function resourceTarget(source: Members): MetricTarget {
  const averageUtilization = source.integer("targetAverageUtilization");
  const averageValue = source.quantity("targetAverageValue");
  return defined<MetricTarget>({
    type: averageUtilization === undefined ? "AverageValue" : "Utilization",
    averageValue,
    averageUtilization,
  });
}

function externalTarget(value: string | undefined, averageValue: string | undefined): MetricTarget {
  return defined<MetricTarget>({ type: value === undefined ? "AverageValue" : "Value", value, averageValue });
}

function readIdentifier(source: Members, selectorName: string): { readonly name: string } {
  return defined({ name: source.text("metricName") ?? "", selector: source.object(selectorName, readSelector) });
}

// ── status ──

export function writeMetricStatus({ type, object, pods, resource, containerResource, external }: MetricStatus): object {
  return defined({
    type,
    object: object && {
      target: writeReference(object.describedObject),
      metricName: object.metric.name,
      currentValue: object.current.value ?? ZERO,
      selector: writeSelector(object.metric.selector),
      averageValue: object.current.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? ZERO,
      selector: writeSelector(pods.metric.selector),
    },
    resource: resource && { name: resource.name, ...writeResourceStatus(resource.current) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...writeResourceStatus(containerResource.current),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: writeSelector(external.metric.selector),
      currentValue: external.current.value ?? ZERO,
      currentAverageValue: external.current.averageValue,
    },
  });
}

function writeResourceStatus({ averageUtilization, averageValue }: MetricValueStatus): object {
  return { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue ?? ZERO };
}

/** An absent value is restored as zero: the older form cannot distinguish the two, as upstream's. */
export function readMetricStatus(metric: Members): MetricStatus {
  return defined<MetricStatus>({
    type: metric.text("type") ?? "",
    object: metric.object("object", (source) => ({
      metric: readIdentifier(source, "selector"),
      current: defined<MetricValueStatus>({
        value: source.quantity("currentValue") ?? ZERO,
        averageValue: source.quantity("averageValue"),
      }),
      describedObject: source.object("target", readReference) ?? NO_REFERENCE,
    })),
    pods: metric.object("pods", (source) => ({
      metric: readIdentifier(source, "selector"),
      current: { averageValue: source.quantity("currentAverageValue") ?? ZERO },
    })),
    resource: metric.object("resource", (source) => ({ name: source.text("name") ?? "", current: resourceStatus(source) })),
    containerResource: metric.object("containerResource", (source) => ({
      name: source.text("name") ?? "",
      current: resourceStatus(source),
      container: source.text("container") ?? "",
    })),
    external: metric.object("external", (source) => ({
      metric: readIdentifier(source, "metricSelector"),
      current: defined<MetricValueStatus>({
        value: source.quantity("currentValue") ?? ZERO,
        averageValue: source.quantity("currentAverageValue"),
      }),
    })),
  });
}

function resourceStatus(source: Members): MetricValueStatus {
  return defined<MetricValueStatus>({
    averageValue: source.quantity("currentAverageValue") ?? ZERO,
    averageUtilization: source.integer("currentAverageUtilization"),
  });
}
