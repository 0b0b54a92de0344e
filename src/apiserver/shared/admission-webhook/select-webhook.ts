/** Decides whether a webhook whose rules match is called: selectors, then match conditions. */
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import type { WebhookType } from "../../framework/admission/admission-metrics.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { evaluateConditions } from "../admission-policy/match-conditions.ts";
import { objectsFor } from "../admission/admitted-objects.ts";
import { isSelected } from "../admission/selected-request.ts";
import type { WebhookMatch } from "./configured-webhooks.ts";

export interface Candidate extends WebhookMatch {
  readonly request: AdmissionRequest;
  readonly type: WebhookType;
}

type Dependencies = Pick<AdmissionDependencies, "objects" | "authorizer" | "evaluations" | "metrics" | "clock">;

/** Throws Forbidden if a condition fails and the webhook fails closed. */
export async function selectWebhook(dependencies: Dependencies, candidate: Candidate): Promise<boolean> {
  const { objects, authorizer, evaluations, metrics, clock } = dependencies;
  const { hook, target, request, type } = candidate;
  if (!(await isSelected(objects, hook, request))) return false;
  if ((hook.webhook.matchConditions ?? []).length === 0) return true;
  const { name, failurePolicy } = hook.webhook;
  const owner = { name, kind: "webhook", type, operation: request.operation } as const;
  const input = { request, target, authorizer, evaluations, ...(await objectsFor(request, target)) };
  const result = await evaluateConditions(await hook.conditions.get(), input, { metrics, clock, owner });
  if ("error" in result) {
    if (failurePolicy === "Ignore") return false;
    throw forbiddenError(request.endpoint.name, request.name, result.error);
  }
  if (!result.matches) metrics.conditionExcluded(owner);
  return result.matches;
}
