/** Validation of a HorizontalPodAutoscaler, except its metrics (validate-metrics.ts). */
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from "../../generated/autoscaling/v2.ts";
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { signOf, parseQuantity } from "../../machinery/quantity.ts";
import { NOT_NEGATIVE, nonNegative } from "../../number-validation.ts";
import { validateMetric } from "./validate-metrics.ts";
import { validateReference, wrongWithApiVersion } from "./validate-reference.ts";

const SELECT_POLICIES = ["Disabled", "Max", "Min"];
const POLICY_TYPES = ["Percent", "Pods"];
/** Maximum stabilization window and policy period: one hour, and half of one. */
const WINDOW_MAX_SECONDS = 3_600;
const PERIOD_MAX_SECONDS = 1_800;

export function* validateAutoscaler({ spec }: HorizontalPodAutoscaler, previous?: HorizontalPodAutoscaler): Iterable<FieldError> {
  yield* validateReplicas(spec, previous?.spec);
  yield* validateTarget(spec.scaleTargetRef, previous?.spec?.scaleTargetRef);
  yield* validateMetrics(spec, previous?.spec);
  const { scaleUp, scaleDown } = spec.behavior ?? {};
  if (scaleUp !== undefined) yield* validateRules(scaleUp, "spec.behavior.scaleUp");
  if (scaleDown !== undefined) yield* validateRules(scaleDown, "spec.behavior.scaleDown");
}

function* validateReplicas(
  { minReplicas, maxReplicas }: HorizontalPodAutoscalerSpec,
  previous?: HorizontalPodAutoscalerSpec,
): Iterable<FieldError> {
  // Scaling to zero is behind a feature gate that is off upstream; a stored zero remains valid.
  const least = previous?.minReplicas === 0 ? 0 : 1;
  if (minReplicas !== undefined && minReplicas < least) {
    yield invalid("spec.minReplicas", minReplicas, `must be greater than or equal to ${least}`);
  }
  if (maxReplicas === 0) yield required("spec.maxReplicas", "must be set and greater than 0");
  else if (maxReplicas < 0) yield invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1");
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    yield invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`");
  }
}

function validateTarget(target: CrossVersionObjectReference, previous?: CrossVersionObjectReference): Iterable<FieldError> {
  const isSame = target.apiVersion === previous?.apiVersion && target.kind === previous?.kind;
  return validateReference(target, "spec.scaleTargetRef", {
    // The only kind of the core group with a Scale.
    allowsCoreGroup: target.kind === "ReplicationController" && !isSame,
    allowsAnyApiVersion: previous !== undefined && isSame,
  });
}

function* validateMetrics(
  { metrics = [], minReplicas }: HorizontalPodAutoscalerSpec,
  previous?: HorizontalPodAutoscalerSpec,
): Iterable<FieldError> {
  const wasWrong = (previous?.metrics ?? []).some(
    ({ type, object }) =>
      type === "Object" && object !== undefined && wrongWithApiVersion(object.describedObject, { allowsCoreGroup: true }) !== undefined,
  );
  for (const [index, metric] of metrics.entries()) {
    yield* validateMetric(metric, element("spec.metrics", index), { allowsCoreGroup: true, allowsAnyApiVersion: wasWrong });
  }
  // Scaling from zero needs an object or external metric: there are no Pods to measure.
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    yield forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas");
  }
}

function* validateRules(rules: HPAScalingRules, at: string): Iterable<FieldError> {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules;
  const windowAt = child(at, "stabilizationWindowSeconds");
  if (seconds !== undefined && seconds < 0) yield invalid(windowAt, seconds, "must be greater than or equal to zero");
  if (seconds !== undefined && seconds > WINDOW_MAX_SECONDS) {
    yield invalid(windowAt, seconds, `must be less than or equal to ${WINDOW_MAX_SECONDS}`);
  }
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy)) {
    yield notSupported(child(at, "selectPolicy"), selectPolicy, SELECT_POLICIES);
  }
  if (policies.length === 0) yield required(child(at, "policies"), "must specify at least one Policy");
  for (const [index, policy] of policies.entries()) yield* validatePolicy(policy, element(child(at, "policies"), index));
  if (tolerance !== undefined && signOf(parseQuantity(tolerance)) < 0) yield invalid(child(at, "tolerance"), tolerance, NOT_NEGATIVE);
}

function* validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, at: string): Iterable<FieldError> {
  if (!POLICY_TYPES.includes(type)) yield notSupported(child(at, "type"), type, POLICY_TYPES);
  if (value <= 0) yield invalid(child(at, "value"), value, "must be greater than zero");
  const periodAt = child(at, "periodSeconds");
  if (periodSeconds <= 0) yield invalid(periodAt, periodSeconds, "must be greater than zero");
  if (periodSeconds > PERIOD_MAX_SECONDS) yield invalid(periodAt, periodSeconds, `must be less than or equal to ${PERIOD_MAX_SECONDS}`);
}

export function* validateAutoscalerStatus({ status }: HorizontalPodAutoscaler): Iterable<FieldError> {
  yield* nonNegative(status?.currentReplicas, "status.currentReplicas");
  yield* nonNegative(status?.desiredReplicas, "status.desiredReplicas");
}
