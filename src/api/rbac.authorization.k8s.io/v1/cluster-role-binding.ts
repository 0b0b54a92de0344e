/**
 * rbac.authorization.k8s.io/v1 ClusterRoleBinding: gives what a ClusterRole allows to some subjects, everywhere.
 *
 * What it shares with RoleBinding: binding.ts.
 * Not here: that nobody may give away more than they have themselves (the authorizer's business).
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
