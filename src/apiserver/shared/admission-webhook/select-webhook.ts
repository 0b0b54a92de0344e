/** Decides whether a webhook whose rules match is called: selectors, then match conditions. */
import type { WebhookType } from "../../framework/admission/admission-metrics.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { isSelected } from "../admission/selected-request.ts";
import type { WebhookMatch } from "./configured-webhooks.ts";

export interface Candidate extends WebhookMatch {
  readonly request: AdmissionRequest;
  readonly type: WebhookType;
}

/** Throws a StatusError if it cannot be decided. */
export async function selectWebhook({ objects }: Pick<AdmissionDependencies, "objects">, { hook, request }: Candidate): Promise<boolean> {
  return isSelected(objects, hook, request);
}
