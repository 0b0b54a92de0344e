/**
 * Validation of the rules of a Role and of a ClusterRole: verbs on resources or on non-resource URLs. Any verb and any name is allowed,
 * because extensions bring their own. Not here: the prevention of privilege escalation (apiserver/resources).
 */
import type { ClusterRole, PolicyRule, Role } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { listOrAbsent } from "../../members.ts";
import { child, element, invalid, required, type FieldError } from "../../machinery/field-error.ts";

export interface PolicyRuleOptions {
  /** A namespaced rule cannot have non-resource URLs. */
  readonly namespaced: boolean;
}

export function* validatePolicyRules(rules: readonly PolicyRule[] | undefined, options: PolicyRuleOptions): Iterable<FieldError> {
  for (const [index, rule] of (rules ?? []).entries()) yield* validatePolicyRule(rule, element("rules", index), options);
}

/** A client may omit any list, also the verbs. */
function* validatePolicyRule(rule: Partial<PolicyRule>, at: string, { namespaced }: PolicyRuleOptions): Iterable<FieldError> {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (verbs.length === 0) yield required(child(at, "verbs"), "verbs must contain at least one value");
  if (nonResourceURLs.length > 0) {
    const here = child(at, "nonResourceURLs");
    if (namespaced) yield invalid(here, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      yield invalid(here, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (apiGroups.length === 0) yield required(child(at, "apiGroups"), "resource rules must supply at least one api group");
  if (resources.length === 0) yield required(child(at, "resources"), "resource rules must supply at least one resource");
}

/** Missing verbs are reported, too. */
export function withRules<T extends Role | ClusterRole>(role: T): T {
  const rules = listOrAbsent(role.rules);
  return rules === role.rules ? role : { ...role, rules };
}
