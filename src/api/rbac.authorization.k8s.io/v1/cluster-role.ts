/**
 * rbac.authorization.k8s.io/v1 ClusterRole: permissions in all namespaces, for cluster-scoped resources, or, through a RoleBinding, in one
 * namespace.
 *
 * With an `aggregationRule` a controller writes the rules: the union of those of all ClusterRoles that one of the selectors matches. Not
 * here: the prevention of privilege escalation (apiserver/resources).
 */
import type { ClusterRole } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import type { LabelSelector } from "../../generated/meta/v1.ts";
import { createdAtColumn, nameColumn } from "../../machinery/columns.ts";
import { element, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { SelectorError } from "../../machinery/selectors/label-requirement.ts";
import { labelSelectorFromObject, validateLabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validatePolicyRules, withRules } from "./policy-rule.ts";

const SELECTORS = "aggregationRule.clusterRoleSelectors";

export const clusterRoles = defineResource<ClusterRole>({
  kind: "ClusterRole",
  plural: "clusterroles",
  singular: "clusterrole",
  scope: "Cluster",
  served: [{ group: "rbac.authorization.k8s.io", version: "v1", schema: "io.k8s.api.rbac.v1.ClusterRole", defaults: withRules }],

  createOnUpdate: true,

  validateName: validatePathSegmentName,
  *validate({ rules, aggregationRule }, previous) {
    yield* validatePolicyRules(rules, { namespaced: false });
    if (aggregationRule !== undefined) yield* validateSelectors(aggregationRule.clusterRoleSelectors ?? [], previous);
  },

  columns: [nameColumn, createdAtColumn],
});

function* validateSelectors(selectors: readonly LabelSelector[], previous: ClusterRole | undefined): Iterable<FieldError> {
  if (selectors.length === 0) yield required(SELECTORS, "at least one clusterRoleSelector required if aggregationRule is non-nil");
  const allowInvalidValues = hasInvalidSelector(previous);
  for (const [index, selector] of selectors.entries()) {
    const at = element(SELECTORS, index);
    yield* validateLabelSelectorObject(selector, at, { allowInvalidValues });
    // Validated as a whole once more, as upstream: here a value that was accepted above is rejected.
    if (!canSelect(selector)) yield invalid(at, null, "invalid label selector.");
  }
}

/** Stored values that are rejected today may remain. */
function hasInvalidSelector(previous: ClusterRole | undefined): boolean {
  const selectors = previous?.aggregationRule?.clusterRoleSelectors ?? [];
  return selectors.some((selector) => [...validateLabelSelectorObject(selector, "")].length > 0);
}

function canSelect(selector: LabelSelector): boolean {
  try {
    labelSelectorFromObject(selector);
    return true;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
