/** apiserver_admission_* and the metrics of policies: upstream's names, labels and buckets. The contract is framework/admission/admission-metrics.ts. */
import { Counter, Histogram } from "../../../base/metrics/metric-series.ts";
import type {
  AdmissionCalls,
  AdmissionMetrics,
  ConditionOwner,
  ObserveDuration,
  ObservedCall,
  ObservedPolicy,
  ObservedRejection,
  WebhookType,
} from "../../framework/admission/admission-metrics.ts";
import type { MetricFamilies } from "../../framework/document.ts";

const PREFIX = "apiserver_admission_";

/** Bucket bounds (seconds) of webhook calls, whose longest timeout is 30 s. */
const CALL_BOUNDS_S = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** Bucket bounds (seconds) of plugins, most of which call no other server. */
const PLUGIN_BOUNDS_S = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
/** Bucket bounds (seconds) of match conditions, whose cost is limited. */
const CONDITION_BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
/** Bucket bounds (seconds) of policies, most of which take microseconds. */
const POLICY_BOUNDS_S = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Codes are chosen by webhooks; larger ones are counted together, so that there are few series. */
const CODE_MAX = 600;

export class AdmissionCounters implements AdmissionMetrics {
  readonly #steps = new Histogram({
    name: `${PREFIX}step_admission_duration_seconds`,
    help: "Duration of admission by type (admit or validate), operation and result, all plugins together.",
    bounds: PLUGIN_BOUNDS_S,
  });
  readonly #plugins = new Histogram({
    name: `${PREFIX}controller_admission_duration_seconds`,
    help: "Duration of admission by plugin, type (admit or validate), operation and result.",
    bounds: PLUGIN_BOUNDS_S,
  });
  readonly #conditionDurations = new Histogram({
    name: `${PREFIX}match_condition_evaluation_seconds`,
    help: "Duration of evaluating the match conditions of a webhook or policy.",
    bounds: CONDITION_BOUNDS_S,
  });
  readonly #durations = new Histogram({
    name: `${PREFIX}webhook_admission_duration_seconds`,
    help: "Duration of calls of admission webhooks by webhook, operation and type (validating or admit).",
    bounds: CALL_BOUNDS_S,
  });
  readonly #requests = counter("webhook_request_total", "Calls of admission webhooks by webhook, operation, type, code and result.");
  readonly #rejections = counter("webhook_rejection_count", "Requests that admission webhooks rejected, or whose call failed closed.");
  readonly #failedOpen = counter("webhook_fail_open_count", "Failed calls of admission webhooks that were ignored.");
  readonly #conditionErrors = counter("match_condition_evaluation_errors_total", "Match conditions whose evaluation failed.");
  readonly #conditionExclusions = counter("match_condition_exclusions_total", "Requests that a match condition excluded.");
  readonly #policies = { validating: policySeries("validating"), mutating: policySeries("mutating") };

  observerOf({ name, type, operation }: AdmissionCalls): ObserveDuration {
    const [allowed, rejected] = ["false", "true"].map((result) => {
      if (name === undefined) return this.#steps.observer({ type, operation, rejected: result });
      return this.#plugins.observer({ name, type, operation, rejected: result });
    });
    return (durationMs, isRejected) => (isRejected ? rejected : allowed)?.(durationMs / 1_000);
  }

  webhookCalled({ name, type, operation, code, isRejected, durationMs }: ObservedCall): void {
    const rejected = String(isRejected);
    this.#requests.add({ name, type, operation, code: String(Math.min(code, CODE_MAX)), rejected });
    this.#durations.observe({ name, type, operation, rejected }, durationMs / 1_000);
  }

  webhookRejected({ name, type, operation, error, code }: ObservedRejection): void {
    this.#rejections.add({ name, type, operation, error_type: error, rejection_code: String(Math.min(code, CODE_MAX)) });
  }

  webhookFailedOpen({ name, type }: { readonly name: string; readonly type: WebhookType }): void {
    this.#failedOpen.add({ name, type });
  }

  conditionsEvaluated({ name, kind, type, operation }: ConditionOwner, durationMs: number): void {
    this.#conditionDurations.observe({ name, kind, type, operation }, durationMs / 1_000);
  }

  conditionFailed({ name, kind, type, operation }: ConditionOwner): void {
    this.#conditionErrors.add({ name, kind, type, operation });
  }

  conditionExcluded({ name, kind, type, operation }: ConditionOwner): void {
    this.#conditionExclusions.add({ name, kind, type, operation });
  }

  policyChecked(kind: "validating" | "mutating", { policy, binding, error, action, durationMs }: ObservedPolicy): void {
    const common = { policy, policy_binding: binding, error_type: error };
    const labels = kind === "validating" ? { ...common, enforcement_action: action } : common;
    this.#policies[kind].checks.add(labels);
    this.#policies[kind].durations.observe(labels, durationMs / 1_000);
  }

  families(): MetricFamilies {
    const counters = [this.#requests, this.#rejections, this.#failedOpen, this.#conditionErrors, this.#conditionExclusions];
    const policies = Object.values(this.#policies).flatMap(({ checks, durations }) => [checks.family(), durations.family()]);
    const durations = [this.#steps, this.#plugins, this.#durations, this.#conditionDurations].map((one) => one.family());
    return [...durations, ...counters.map((one) => one.family()), ...policies];
  }
}

function counter(name: string, help: string): Counter {
  return new Counter({ name: `${PREFIX}${name}`, help });
}

function policySeries(kind: "validating" | "mutating"): { readonly checks: Counter; readonly durations: Histogram } {
  const prefix = `apiserver_${kind}_admission_policy_`;
  return {
    checks: new Counter({ name: `${prefix}check_total`, help: `Checks of requests by ${kind} admission policies.` }),
    durations: new Histogram({
      name: `${prefix}check_duration_seconds`,
      help: `Duration of checks by ${kind} admission policies.`,
      bounds: POLICY_BOUNDS_S,
    }),
  };
}
