/**
 * Maintains the rules of aggregated ClusterRoles (`aggregationRule`): when a selected one changes, those that aggregate it are reconciled.
 * Unchanged rules are not written, so that it converges. The aggregation itself is pure: api/rbac.authorization.k8s.io/v1/aggregation.ts.
 */
import type { ClusterRole } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { aggregatedRules, haveSameRules } from "../../api/rbac.authorization.k8s.io/v1/aggregation.ts";
import { clusterRoles } from "../../api/rbac.authorization.k8s.io/v1/cluster-role.ts";
import { defineIndex } from "../../client/informer/index.ts";
import { defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";

/** Upstream's field manager; it applies, too. */
const FIELD_MANAGER = "clusterrole-aggregation-controller";

const AGGREGATED = "aggregated";
const byAggregation = defineIndex<ClusterRole>(clusterRoles, ({ aggregationRule }) => (aggregationRule === undefined ? [] : [AGGREGATED]));

export const clusterRoleAggregationController = defineController({
  name: "clusterrole-aggregation-controller",
  aliases: ["clusterrole-aggregation"],
  account: "clusterrole-aggregation-controller",
  rules: [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["escalate", "get", "patch"] }],
  watches: [
    // Few are aggregated, and any role may be part of any of them.
    watch(clusterRoles, (_change, read) => read.indexed(byAggregation, AGGREGATED).map(keyOf)),
  ],
  reconcile,
});

async function reconcile({ name }: WorkKey, { read, write }: Pass): Promise<Outcome> {
  const role = read.get(clusterRoles, { name });
  if (role?.aggregationRule === undefined) return onChange;
  const rules = aggregatedRules(role, read.list(clusterRoles));
  if (haveSameRules(rules, role.rules ?? [])) return onChange; // A role without rules has null.
  // Only the rules are applied, so that this manager owns nothing else. As upstream, empty rules are omitted.
  const { apiVersion, kind } = role;
  const part = { apiVersion, kind, metadata: { name }, ...(rules.length === 0 ? {} : { rules }) } as ClusterRole;
  await write.apply(clusterRoles, part, { fieldManager: FIELD_MANAGER, force: true });
  return onChange;
}
