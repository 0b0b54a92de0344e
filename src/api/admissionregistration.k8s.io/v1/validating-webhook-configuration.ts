/**
 * admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration: webhooks that accept or reject a write. A webhook: webhook.ts. Calling
 * them: apiserver/admission.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ValidatingWebhookConfiguration } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changedItems, withChanges } from "../../changes.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { staticNameWarnings } from "./failure-policy.ts";
import { defaultWebhook, validateWebhooks } from "./webhook.ts";

export const validatingWebhookConfigurations = defineResource<ValidatingWebhookConfiguration>({
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  singular: "validatingwebhookconfiguration",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
      defaults: defaultConfiguration,
    },
  ],
  unconditionalUpdate: false,

  changesGeneration: (next, previous) => !deepEqual(next.webhooks, previous.webhooks),

  allowsPlainFinalizers: true,
  validate: validateWebhooks,
  warnings: staticNameWarnings,

  columns: [
    nameColumn,
    textColumn("Webhooks", "Number of webhooks", ({ webhooks = [] }) => webhooks.length, { type: "integer" }),
    ageColumn,
  ],
});

function defaultConfiguration(configuration: ValidatingWebhookConfiguration): ValidatingWebhookConfiguration {
  return withChanges(configuration, { webhooks: changedItems(configuration.webhooks, defaultWebhook) });
}
