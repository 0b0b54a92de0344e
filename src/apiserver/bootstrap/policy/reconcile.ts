/**
 * Reconciles an existing role or binding at start: missing parts are added, additions are kept. An annotation disables it. As upstream's
 * reconciliation, without its removal of surplus.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ObjectMeta } from "../../../api/machinery/object.ts";
import type {
  AggregationRule,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { AUTO_UPDATE } from "./grants.ts";
import { missingParts } from "../../../api/rbac.authorization.k8s.io/v1/rule-covering.ts";

export type AnyRole = ClusterRole | Role;
export type AnyBinding = ClusterRoleBinding | RoleBinding;
export type Granted = AnyRole | AnyBinding;

export type Plan =
  | { readonly is: "keep" }
  | { readonly is: "update"; readonly object: Granted }
  /** roleRef is immutable, so the binding is recreated. */
  | { readonly is: "replace" };

const KEEP: Plan = { is: "keep" };

export function planOf(found: Granted, wanted: Granted): Plan {
  if (found.metadata.annotations?.[AUTO_UPDATE] === "false") return KEEP;
  if ("roleRef" in wanted && !deepEqual((found as AnyBinding).roleRef, wanted.roleRef)) return { is: "replace" };
  const completed = "roleRef" in wanted ? withSubjects(found as AnyBinding, wanted) : withRules(found as AnyRole, wanted);
  const object = withMarks(completed, wanted.metadata);
  return deepEqual(object, found) ? KEEP : { is: "update", object };
}

function withMarks<T extends Granted>(object: T, { labels, annotations }: ObjectMeta): T {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...labels, ...metadata.labels }, annotations: { ...annotations, ...metadata.annotations } },
  };
}

function withRules(found: AnyRole, wanted: AnyRole): AnyRole {
  // At nearly every start they are the same, and comparing costs much less than splitting all rules.
  const missing = deepEqual(found.rules, wanted.rules) ? [] : missingParts(found.rules ?? [], wanted.rules ?? []).parts;
  const completed = missing.length === 0 ? found : { ...found, rules: [...(found.rules ?? []), ...missing] };
  return completed.kind === "ClusterRole" ? withAggregation(completed, (wanted as ClusterRole).aggregationRule) : completed;
}

/** A bootstrap role with rules of its own must not be overwritten by aggregation. */
function withAggregation(role: ClusterRole, wanted: AggregationRule | undefined): ClusterRole {
  const { aggregationRule: found, ...others } = role;
  if (wanted === undefined) return found === undefined ? role : others;
  const selectors = found?.clusterRoleSelectors ?? [];
  const missing = (wanted.clusterRoleSelectors ?? []).filter((selector) => !selectors.some((other) => deepEqual(other, selector)));
  return missing.length === 0 ? role : { ...role, aggregationRule: { clusterRoleSelectors: [...selectors, ...missing] } };
}

function withSubjects(found: AnyBinding, wanted: AnyBinding): AnyBinding {
  const subjects = found.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter((subject) => !subjects.some((other) => deepEqual(other, subject)));
  return missing.length === 0 ? found : { ...found, subjects: [...subjects, ...missing] };
}
