/**
 * rbac.authorization.k8s.io/v1 ClusterRoleBinding: grants a ClusterRole to subjects, cluster-wide.
 *
 * Shared with RoleBinding: binding.ts. Not here: the prevention of privilege escalation (apiserver/resources).
 */
import type { ClusterRoleBinding } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { bindingColumns, defaultBinding, validateBinding, validateSameRole } from "./binding.ts";

export const clusterRoleBindings = defineResource<ClusterRoleBinding>({
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  singular: "clusterrolebinding",
  scope: "Cluster",
  served: [
    {
      group: "rbac.authorization.k8s.io",
      version: "v1",
      schema: "io.k8s.api.rbac.v1.ClusterRoleBinding",
      defaults: (binding: ClusterRoleBinding) => defaultBinding(binding),
    },
  ],

  createOnUpdate: true,

  validateName: validatePathSegmentName,
  validate: (binding) => validateBinding(binding, { roleKinds: ["ClusterRole"], namespaced: false }),
  validateUpdate: validateSameRole,

  columns: bindingColumns<ClusterRoleBinding>(),
});
