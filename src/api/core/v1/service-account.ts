/**
 * core/v1 ServiceAccount: the identity of a Pod at the API server, and the Secrets it may mount and pull images with.
 *
 * Its Secrets are in its own namespace, so of a reference to one only the name is kept. Not here: issuing tokens
 * (apiserver/resources/service-account); their validation (authentication.k8s.io/v1/token-request.ts).
 */
import { changedItems, withChanges } from "../../changes.ts";
import type { ObjectReference, ServiceAccount } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";

const ENFORCE_MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets";

export const serviceAccounts = defineResource<ServiceAccount>({
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  singular: "serviceaccount",
  shortNames: ["sa"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.ServiceAccount" }],
  returnsDeletedObject: true,

  prepareForCreate: withSecretNamesOnly,
  prepareForUpdate: withSecretNamesOnly,

  *warnings({ metadata }, previous) {
    if (metadata.annotations?.[ENFORCE_MOUNTABLE_SECRETS] === undefined) return;
    if (previous?.metadata.annotations?.[ENFORCE_MOUNTABLE_SECRETS] !== undefined) return;
    yield `metadata.annotations[${ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;
  },

  subresources: {
    token: {
      of: "action",
      verbs: ["create"],
      takes: {
        group: "authentication.k8s.io",
        version: "v1",
        kind: "TokenRequest",
        schema: "io.k8s.api.authentication.v1.TokenRequest",
      },
    },
  },

  columns: [nameColumn, ageColumn],
});

function withSecretNamesOnly(account: ServiceAccount): ServiceAccount {
  return withChanges(account, { secrets: changedItems(account.secrets, nameOnly) });
}

function nameOnly(reference: ObjectReference): ObjectReference {
  const { name } = reference;
  if (Object.keys(reference).length === (name === undefined ? 0 : 1)) return reference;
  return name === undefined ? {} : { name };
}
