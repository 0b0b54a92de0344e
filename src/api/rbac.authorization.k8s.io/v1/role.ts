/**
 * rbac.authorization.k8s.io/v1 Role: permissions within one namespace. A RoleBinding grants them.
 *
 * Not here: the prevention of privilege escalation (apiserver/resources).
 */
import type { Role } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { createdAtColumn, nameColumn } from "../../machinery/columns.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validatePolicyRules, withRules } from "./policy-rule.ts";

export const roles = defineResource<Role>({
  kind: "Role",
  plural: "roles",
  singular: "role",
  scope: "Namespaced",
  served: [{ group: "rbac.authorization.k8s.io", version: "v1", schema: "io.k8s.api.rbac.v1.Role", defaults: withRules }],

  createOnUpdate: true,

  validateName: validatePathSegmentName,
  validate: ({ rules }) => validatePolicyRules(rules, { namespaced: true }),

  columns: [nameColumn, createdAtColumn],
});
