/**
 * Asks the webhooks of ValidatingWebhookConfigurations whether a request is allowed: all that match at once, since none sees the others'
 * result. If several deny it, the first in their order is reported. Equivalent to upstream's plugin of this name.
 */
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { timeoutError } from "../../../api/machinery/status-error.ts";
import { objectsFor } from "../../shared/admission/admitted-objects.ts";
import { NAMESPACES } from "../../shared/admission/selected-request.ts";
import { ConfiguredWebhooks, type WebhookMatch } from "../../shared/admission-webhook/configured-webhooks.ts";
import { invokeWebhook } from "../../shared/admission-webhook/invoke-webhook.ts";
import { selectWebhook } from "../../shared/admission-webhook/select-webhook.ts";

const CONFIGURATIONS = { group: "admissionregistration.k8s.io", plural: "validatingwebhookconfigurations" };

export function validatingAdmissionWebhook(dependencies: AdmissionDependencies): AdmissionPlugin {
  const webhooks = new ConfiguredWebhooks(dependencies);
  return {
    name: "ValidatingAdmissionWebhook",
    async start() {
      await dependencies.objects.load(NAMESPACES);
      await dependencies.objects.follow(CONFIGURATIONS, webhooks);
    },
    validate(request) {
      const matches = webhooks.matching(request);
      return matches.length === 0 ? undefined : validate(dependencies, request, matches);
    },
  };
}

async function validate(dependencies: AdmissionDependencies, request: AdmissionRequest, matches: readonly WebhookMatch[]): Promise<void> {
  const selected: WebhookMatch[] = [];
  for (const match of matches) if (await selectWebhook(dependencies, { ...match, request, type: "validating" })) selected.push(match);
  if (selected.length === 0) return;
  if (request.context.signal?.aborted === true) throw timeoutError("request did not complete within requested timeout");
  const results = await Promise.allSettled(
    selected.map(async (match, index) => {
      const objects = await objectsFor(request, match.target);
      await invokeWebhook(dependencies, { ...match, request, type: "validating", index, round: 0 }, objects);
    }),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
