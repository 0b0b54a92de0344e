/** The contract of admission's metrics: what plugins that run code of others count. shared/admission/admission-counters.ts implements it. */
import type { Family, HistogramFamily } from "../../../base/metrics/prometheus-text.ts";

/** "admit" for mutating webhooks, "validating" for validating ones: upstream's values of the label `type`. */
export type WebhookType = "admit" | "validating";

/** Whether a failed match condition belongs to a webhook or a policy, and its type: upstream's labels `kind` and `type`. */
export interface ConditionOwner {
  readonly name: string;
  readonly kind: "webhook" | "policy";
  readonly type: "admit" | "validate" | "validating";
  readonly operation: string;
}

export interface ObservedCall {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: string;
  /** The HTTP code of the response; 200 if the webhook allowed the request. */
  readonly code: number;
  readonly isRejected: boolean;
  readonly durationMs: number;
}

export interface ObservedRejection {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: string;
  readonly error: "calling_webhook_error" | "apiserver_internal_error" | "no_error";
  readonly code: number;
}

export interface ObservedPolicy {
  readonly policy: string;
  readonly binding: string;
  readonly error: "no_error" | "invalid_error" | "compile_error" | "out_of_budget";
  /** What the policy did: upstream's values of the label `enforcement_action`. */
  readonly action: "allow" | "deny" | "audit" | "warn";
  readonly durationMs: number;
}

/** Calls of mutating plugins ("admit") or validating ones ("validate"), of one plugin or of all of them. */
export interface AdmissionCalls {
  /** The plugin; absent: all. */
  readonly name?: string;
  readonly type: "admit" | "validate";
  readonly operation: string;
}

/** Observes one call. */
export type ObserveDuration = (durationMs: number, isRejected: boolean) => void;

export interface AdmissionMetrics {
  /** Resolved once for the calls of a plugin, then called for every write. */
  observerOf(calls: AdmissionCalls): ObserveDuration;
  webhookCalled(call: ObservedCall): void;
  webhookRejected(rejection: ObservedRejection): void;
  webhookFailedOpen(webhook: { readonly name: string; readonly type: WebhookType }): void;
  /** All conditions of one webhook or policy were evaluated for one request. */
  conditionsEvaluated(owner: ConditionOwner, durationMs: number): void;
  conditionFailed(owner: ConditionOwner): void;
  conditionExcluded(owner: ConditionOwner): void;
  policyChecked(kind: "validating" | "mutating", check: ObservedPolicy): void;
  families(): readonly (Family | HistogramFamily)[];
}
