/** Webhooks whose Service does not answer: of a configuration of admission webhooks, or of a definition that converts its objects. */
import type { Seen } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, type Finding } from "./explainer.ts";

const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
const GROUP = "admissionregistration.k8s.io";

export const webhookService = defineExplainer({
  resources: [DEFINITIONS, `validatingwebhookconfigurations.${GROUP}`, `mutatingwebhookconfigurations.${GROUP}`],
  explain(object, subject, { explain }) {
    const because = webhooksOf(object).flatMap(({ text, service }): readonly Finding[] => {
      const explained = service && explain({ resource: "services", namespace: service.namespace, name: service.name });
      return explained ? [{ text, root: "WebhookUnavailable", because: [explained.finding] }] : [];
    });
    if (because.length === 0) return undefined;
    const what = subject.resource === DEFINITIONS ? "cannot convert its objects" : "has webhooks that do not answer";
    return found({ text: `${nameOf(subject)} ${what}`, because });
  },
});

function webhooksOf({ spec, webhooks = [] }: Seen): readonly { readonly text: string; readonly service: Seen }[] {
  if (spec?.conversion?.strategy === "Webhook")
    return [{ text: "its conversion webhook cannot answer", service: spec.conversion.webhook?.clientConfig?.service }];
  return webhooks.map(({ name, clientConfig, failurePolicy }: Seen) => ({
    text: `webhook ${name} cannot answer, and its failurePolicy is ${failurePolicy}`,
    service: clientConfig?.service,
  }));
}
