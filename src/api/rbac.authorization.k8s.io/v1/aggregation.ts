/**
 * The rules of an aggregated ClusterRole: those of every role that one of its selectors matches, ordered by selector and then by name, each
 * rule once, and never its own. As upstream's controller.
 */
import type { ClusterRole, PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { labelSelectorFromObject } from "../../machinery/selectors/label-selector.ts";

/** `all`: every ClusterRole, in any order. Throws SelectorError if a selector is malformed. */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): readonly PolicyRule[] {
  const others = [...all].filter(({ metadata }) => metadata.name !== role.metadata.name);
  const rules = new Map<string, PolicyRule>();
  for (const selectorObject of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = labelSelectorFromObject(selectorObject);
    const chosen = others.filter(({ metadata }) => selector.matches(metadata.labels)).toSorted(byName);
    for (const rule of chosen.flatMap((other) => other.rules ?? [])) {
      const key = keyOf(rule);
      if (!rules.has(key)) rules.set(key, rule);
    }
  }
  return [...rules.values()];
}

/** True if both lists are equal: an empty list in a rule equals an absent one. */
export function haveSameRules(a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean {
  return a.length === b.length && a.every((rule, index) => keyOf(rule) === keyOf(b[index] ?? rule));
}

function keyOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}

function byName(a: ClusterRole, b: ClusterRole): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
