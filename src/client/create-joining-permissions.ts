/** Creates the roles and bindings of joining and joined nodes that are missing. Existing ones stay: an administrator can empty them. */
import { clusterRoleBindings } from "../api/rbac.authorization.k8s.io/v1/cluster-role-binding.ts";
import { clusterRoles } from "../api/rbac.authorization.k8s.io/v1/cluster-role.ts";
import { roleBindings } from "../api/rbac.authorization.k8s.io/v1/role-binding.ts";
import { roles } from "../api/rbac.authorization.k8s.io/v1/role.ts";
import { joiningClusterRoleBindings, joiningClusterRoles, joiningRoleBindings, joiningRoles } from "../api/node-joining-permissions.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Client, ResourceKind } from "./client.ts";
import { createIfMissing } from "./create-if-missing.ts";

/** `client`: of an administrator. */
export async function createJoiningPermissions(client: Client): Promise<void> {
  await createMissing(client, clusterRoles, joiningClusterRoles);
  await createMissing(client, clusterRoleBindings, joiningClusterRoleBindings);
  await createMissing(client, roles, joiningRoles);
  await createMissing(client, roleBindings, joiningRoleBindings);
}

async function createMissing<T extends KubeObject>(client: Client, kind: ResourceKind<T>, objects: readonly T[]): Promise<void> {
  await Promise.all(objects.map((object) => createIfMissing(client, kind, object)));
}
