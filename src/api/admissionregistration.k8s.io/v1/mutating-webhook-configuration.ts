/**
 * admissionregistration.k8s.io/v1 MutatingWebhookConfiguration: webhooks that may change an object while it is being written. A webhook:
 * webhook.ts. Calling them: apiserver/admission.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { MutatingWebhook, MutatingWebhookConfiguration } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changedItems, withChanges } from "../../changes.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { staticNameWarnings } from "./failure-policy.ts";
import { defaultWebhook, validateWebhooks } from "./webhook.ts";

export const mutatingWebhookConfigurations = defineResource<MutatingWebhookConfiguration>({
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  singular: "mutatingwebhookconfiguration",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
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

function defaultConfiguration(configuration: MutatingWebhookConfiguration): MutatingWebhookConfiguration {
  return withChanges(configuration, { webhooks: changedItems(configuration.webhooks, defaultMutatingWebhook) });
}

function defaultMutatingWebhook(webhook: MutatingWebhook): MutatingWebhook {
  const { reinvocationPolicy = "Never" } = webhook;
  return withChanges(defaultWebhook(webhook), { reinvocationPolicy });
}
