/** The kinds that the rules of a policy name exactly, as far as they are few: expressions are checked against each. Pure. */
import type { MatchResources, NamedRuleWithOperations } from "../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { GroupVersion } from "../../api/machinery/object.ts";

/** Upstream's limit. */
export const TYPES_MAX = 10;

export interface NamedResource extends GroupVersion {
  readonly plural: string;
}

/** Sorted; rules with wildcards, and subresources, are left out. */
export function resourcesOf({ resourceRules = [] }: MatchResources): readonly NamedResource[] {
  return resourceRules.flatMap(resourcesIn);
}

function resourcesIn({ apiGroups = [], apiVersions = [], resources = [] }: NamedRuleWithOperations): readonly NamedResource[] {
  if ([...apiGroups, ...apiVersions].some((text) => text.includes("*"))) return [];
  const plurals = resources.filter((text) => !/[*/]/.test(text)).toSorted();
  return apiGroups
    .toSorted()
    .flatMap((group) => apiVersions.toSorted().flatMap((version) => plurals.map((plural) => ({ group, version, plural }))));
}
