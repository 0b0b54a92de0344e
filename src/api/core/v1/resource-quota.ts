/**
 * core/v1 ResourceQuota: limits the total demand of a namespace's objects. The status has the used amounts.
 *
 * The scopes select the counted objects; those of `spec.scopes` are immutable. Not here: counting (controllers/resource-quota), and
 * enforcement (admission).
 */
import { changed, withChanges } from "../../changes.ts";
import type { ResourceQuota, ResourceQuotaStatus } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { compareQuantities } from "../../machinery/quantity.ts";
import { defineResource } from "../../machinery/resource.ts";
import { roundedList } from "./pod/defaults/resources.ts";
import { readQuantity } from "./pod/resource-list.ts";
import { validateQuotaSpec, validateQuotaStatus, validateSameScopes } from "./resource-quota/validate.ts";

export const resourceQuotas = defineResource<ResourceQuota>({
  kind: "ResourceQuota",
  plural: "resourcequotas",
  singular: "resourcequota",
  shortNames: ["quota"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.ResourceQuota", defaults: defaultQuota }],
  returnsDeletedObject: true,

  prepareForCreate: (quota) => ({ ...quota, status: {} }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),

  validate: ({ spec = {} }) => validateQuotaSpec(spec),
  validateUpdate: validateSameScopes,
  *warnings(quota, previous) {
    if (previous === undefined) yield* limitWarnings(quota);
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withChanges(next, { spec: previous.spec }),
      validateUpdate: ({ status = {} }) => validateQuotaStatus(status),
    },
  },

  columns: [
    nameColumn,
    textColumn("Request", "Used and allowed amounts of requests and object counts", ({ status = {} }) =>
      usageCell(status, (name) => !isLimit(name)),
    ),
    textColumn("Limit", "Used and allowed amounts of limits", ({ status = {} }) => usageCell(status, isLimit)),
    ageColumn,
  ],
});

function defaultQuota(quota: ResourceQuota): ResourceQuota {
  return withChanges(quota, {
    spec: changed(quota.spec, (spec) => withChanges(spec, { hard: changed(spec.hard, roundedList) })),
    status: changed(quota.status, (status) =>
      withChanges(status, { hard: changed(status.hard, roundedList), used: changed(status.used, roundedList) }),
    ),
  });
}

/** Requests never exceed limits, so a quota that allows it is probably a mistake. */
function* limitWarnings({ spec }: ResourceQuota): Iterable<string> {
  const hard = spec?.hard ?? {};
  for (const name of ["cpu", "memory", "storage", "ephemeral-storage"]) {
    const hasShortName = name === "cpu" || name === "memory";
    const requestName = hard[`requests.${name}`] === undefined && hasShortName ? name : `requests.${name}`;
    const limitName = `limits.${name}`;
    const [request, limit] = [hard[requestName], hard[limitName]];
    if (request === undefined || limit === undefined || compareQuantities(readQuantity(request), readQuantity(limit)) <= 0) continue;
    yield `ResourceQuota ${requestName} (${request}) should be less than ${limitName} (${limit})`;
  }
}

function isLimit(name: string): boolean {
  return name.startsWith("limits.");
}

/** "cpu: 1/2, pods: 3/10". */
function usageCell({ hard = {}, used = {} }: ResourceQuotaStatus, isShown: (name: string) => boolean): string {
  const names = Object.keys(hard).filter(isShown).toSorted();
  return names.map((name) => `${name}: ${used[name] ?? "0"}/${hard[name]}`).join(", ");
}
