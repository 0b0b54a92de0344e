/** Validation of the conversion between versions. Errors name the fields of upstream's internal version, without `webhook`. */
import type { CustomResourceConversion, WebhookClientConfig } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateDns1035Label } from "../../../machinery/names.ts";
import { validateWebhookService, validateWebhookUrl } from "../../../webhook-client.ts";
import { caBundleProblem } from "./ca-bundle.ts";
import { type Ratchets, REVIEW_VERSIONS } from "./ratchets.ts";

const STRATEGIES = ["None", "Webhook"];

export function* validateConversion({ strategy, webhook }: CustomResourceConversion, at: string, ratchets: Ratchets): Iterable<FieldError> {
  if (strategy === "") yield required(child(at, "strategy"));
  else if (!STRATEGIES.includes(strategy)) yield notSupported(child(at, "strategy"), strategy, STRATEGIES);
  const clientConfigAt = child(at, "webhookClientConfig");
  const versionsAt = child(at, "conversionReviewVersions");
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  if (strategy === "Webhook") {
    if (clientConfig === undefined) yield required(clientConfigAt, "required when strategy is set to Webhook");
    else yield* validateClientConfig(clientConfig, clientConfigAt, ratchets);
    yield* validateReviewVersions(conversionReviewVersions, versionsAt, ratchets);
    return;
  }
  const message = "should not be set when strategy is not set to Webhook";
  if (clientConfig !== undefined) yield forbidden(clientConfigAt, message);
  if (conversionReviewVersions.length > 0) yield forbidden(versionsAt, message);
}

function* validateClientConfig(config: WebhookClientConfig, at: string, { requireValidCaBundle }: Ratchets): Iterable<FieldError> {
  const { url, service, caBundle = "" } = config;
  if ((url === undefined) === (service === undefined)) yield required(at, "exactly one of url or service is required");
  else if (url !== undefined) yield* validateWebhookUrl(url, child(at, "url"));
  else if (service !== undefined) {
    // Upstream swaps the two names, only here.
    yield* validateWebhookService({ ...service, namespace: service.name, name: service.namespace }, child(at, "service"));
  }
  const problem = requireValidCaBundle && caBundle !== "" ? caBundleProblem(caBundle) : undefined;
  if (problem !== undefined) yield invalid(child(at, "caBundle"), caBundle, problem);
}

function* validateReviewVersions(versions: readonly string[], at: string, { requireReviewVersion }: Ratchets): Iterable<FieldError> {
  if (versions.length === 0) {
    yield required(at);
    return;
  }
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) yield invalid(element(at, index), version, "duplicate version");
    else for (const wrong of validateDns1035Label(version)) yield invalid(element(at, index), version, wrong);
  }
  if (requireReviewVersion && !versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    yield invalid(at, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`);
  }
}
