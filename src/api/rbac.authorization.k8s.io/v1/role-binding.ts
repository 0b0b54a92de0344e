/**
 * rbac.authorization.k8s.io/v1 RoleBinding: grants a Role, or a ClusterRole, to subjects within one namespace.
 *
 * Shared with ClusterRoleBinding: binding.ts. Not here: the prevention of privilege escalation (apiserver/resources).
 */
import type { RoleBinding } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { bindingColumns, defaultBinding, validateBinding, validateSameRole } from "./binding.ts";

export const roleBindings = defineResource<RoleBinding>({
  kind: "RoleBinding",
  plural: "rolebindings",
  singular: "rolebinding",
  scope: "Namespaced",
  served: [
    {
      group: "rbac.authorization.k8s.io",
      version: "v1",
      schema: "io.k8s.api.rbac.v1.RoleBinding",
      defaults: (binding: RoleBinding) => defaultBinding(binding),
    },
  ],

  createOnUpdate: true,

  validateName: validatePathSegmentName,
  validate: (binding) => validateBinding(binding, { roleKinds: ["Role", "ClusterRole"], namespaced: true }),
  validateUpdate: validateSameRole,

  columns: bindingColumns<RoleBinding>(),
});
