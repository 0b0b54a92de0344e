/**
 * All bootstrap roles and bindings: those of upstream 1.36 with its default features. Built once per process: a test run starts very many
 * servers.
 */
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { componentRoles } from "./component-roles.ts";
import { controllerRoles } from "./controller-roles.ts";
import { namespacedRoles } from "./namespaced-roles.ts";
import { nodeRoles } from "./node-roles.ts";
import { publicRoles } from "./public-roles.ts";
import { userRoles } from "./user-roles.ts";

const grants = [...userRoles, ...publicRoles, ...componentRoles, ...nodeRoles, ...controllerRoles];

export const clusterRoles: readonly ClusterRole[] = grants.map(({ role }) => role);
export const clusterRoleBindings: readonly ClusterRoleBinding[] = grants.flatMap(({ binding = [] }) => binding);
export const roles: readonly Role[] = namespacedRoles.map(({ role }) => role);
export const roleBindings: readonly RoleBinding[] = namespacedRoles.flatMap(({ binding = [] }) => binding);
