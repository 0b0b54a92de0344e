/** Validation of one metric: exactly the source that its type names, with a target that fits the source. */
import type {
  ContainerResourceMetricSource,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from "../../generated/autoscaling/v2.ts";
import { child, forbidden, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { validateDnsLabel, validatePathSegmentName } from "../../machinery/names.ts";
import { parseQuantity, signOf } from "../../machinery/quantity.ts";
import { validateContainerResourceName } from "../../core/v1/pod/validation/resources.ts";
import { validateReference, type ReferenceRules } from "./validate-reference.ts";

type SourceName = "object" | "external" | "pods" | "resource" | "containerResource";

/** The type, and the member of its source. */
const SOURCES: ReadonlyMap<string, SourceName> = new Map([
  ["Object", "object"],
  ["External", "external"],
  ["Pods", "pods"],
  ["Resource", "resource"],
  ["ContainerResource", "containerResource"],
]);
const SOURCE_NAMES = [...SOURCES.values()];
const TYPES = [...SOURCES.keys()].toSorted();
const TARGET_TYPES = ["Utilization", "Value", "AverageValue"];

export function* validateMetric(metric: MetricSpec, at: string, rules: ReferenceRules): Iterable<FieldError> {
  const { type } = metric;
  const typeAt = child(at, "type");
  if (type === "") yield required(typeAt, "must specify a metric source type");
  if (!TYPES.includes(type)) yield notSupported(typeAt, type, TYPES);
  const present = SOURCE_NAMES.filter((name) => metric[name] !== undefined);
  // Of several, only the first is validated: all but one must be removed anyway.
  if (present[0] !== undefined) yield* validateSource(metric, present[0], child(at, present[0]), rules);
  const expected = SOURCES.get(type);
  // Upstream reports an unknown type twice.
  if (expected === undefined) yield notSupported(typeAt, type, TYPES);
  else if (metric[expected] === undefined) yield required(child(at, expected), "must populate information for the given metric source");
  if (present.length < 2) return;
  for (const name of present) if (name !== expected) yield forbidden(child(at, name), "must populate the given metric source only");
}

function* validateSource(metric: MetricSpec, name: SourceName, at: string, rules: ReferenceRules): Iterable<FieldError> {
  const { object, external, pods, resource, containerResource } = metric;
  if (name === "object" && object !== undefined) yield* validateObject(object, at, rules);
  if (name === "external" && external !== undefined) yield* validateExternal(external, at);
  if (name === "pods" && pods !== undefined) yield* validatePods(pods, at);
  if (name === "resource" && resource !== undefined) yield* validateResource(resource, at);
  if (name === "containerResource" && containerResource !== undefined) yield* validateContainerResource(containerResource, at);
}

function* validateObject({ describedObject, metric, target }: ObjectMetricSource, at: string, rules: ReferenceRules): Iterable<FieldError> {
  yield* validateReference(describedObject, child(at, "describedObject"), rules);
  yield* validateIdentifier(metric, child(at, "metric"));
  yield* validateTarget(target, child(at, "target"));
  if (target.value === undefined && target.averageValue === undefined) {
    yield required(child(at, "target.averageValue"), "must set either a target value or averageValue");
  }
}

function* validateExternal({ metric, target }: ExternalMetricSource, at: string): Iterable<FieldError> {
  yield* validateIdentifier(metric, child(at, "metric"));
  yield* validateTarget(target, child(at, "target"));
  const { value, averageValue } = target;
  if (value === undefined && averageValue === undefined) {
    yield required(child(at, "target.averageValue"), "must set either a target value for metric or a per-pod target");
  }
  if (value !== undefined && averageValue !== undefined) {
    yield forbidden(child(at, "target.value"), "may not set both a target value for metric and a per-pod target");
  }
}

function* validatePods({ metric, target }: PodsMetricSource, at: string): Iterable<FieldError> {
  yield* validateIdentifier(metric, child(at, "metric"));
  yield* validateTarget(target, child(at, "target"));
  if (target.averageValue === undefined) yield required(child(at, "target.averageValue"), "must specify a positive target averageValue");
}

function* validateResource({ name, target }: ResourceMetricSource, at: string): Iterable<FieldError> {
  if (name === "") yield required(child(at, "name"), "must specify a resource name");
  yield* validateResourceTarget(target, child(at, "target"));
}

function* validateContainerResource({ name, container, target }: ContainerResourceMetricSource, at: string): Iterable<FieldError> {
  if (name === "") yield required(child(at, "name"), "must specify a resource name");
  else yield* errorsOf((errors) => validateContainerResourceName(errors, name, child(at, "name")));
  const containerAt = child(at, "container");
  if (container === "") yield required(containerAt, "must specify a container");
  else for (const wrong of validateDnsLabel(container)) yield invalid(containerAt, container, wrong);
  yield* validateResourceTarget(target, child(at, "target"));
}

function* validateResourceTarget(target: MetricTarget, at: string): Iterable<FieldError> {
  yield* validateTarget(target, at);
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    yield required(child(at, "averageUtilization"), "must set either a target raw value or a target utilization");
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    yield forbidden(child(at, "averageValue"), "may not set both a target raw value and a target utilization");
  }
}

function* validateTarget({ type, value, averageValue, averageUtilization }: MetricTarget, at: string): Iterable<FieldError> {
  const typeAt = child(at, "type");
  if (type === "") yield required(typeAt, "must specify a metric target type");
  if (!TARGET_TYPES.includes(type)) yield invalid(typeAt, type, "must be either Utilization, Value, or AverageValue");
  for (const [name, amount] of Object.entries({ value, averageValue })) {
    if (amount !== undefined && signOf(parseQuantity(amount)) <= 0) yield invalid(child(at, name), amount, "must be positive");
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    yield invalid(child(at, "averageUtilization"), averageUtilization, "must be greater than 0");
  }
}

function* validateIdentifier({ name }: MetricIdentifier, at: string): Iterable<FieldError> {
  if (name === "") yield required(child(at, "name"), "must specify a metric name");
  else for (const wrong of validatePathSegmentName(name)) yield invalid(child(at, "name"), name, wrong);
}
