/** Roles and bindings: authorizes their contents. See escalation.ts. */
import type { PolicyRule, Role, RoleBinding, RoleRef } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { badRequest, forbiddenError, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import type { PermittedWrite } from "../../framework/extension.ts";
import type { Objects } from "../../framework/objects.ts";
import type { ApiRequest } from "../../framework/request.ts";
import type { ExtensionFactory, ServerContext } from "../../framework/server-context.ts";
import { aggregationEscalation, escalationOf, isGarbageCollection, mayBind, mayEscalate } from "./escalation.ts";
import { MASTERS } from "../../framework/authorization.ts";

const GROUP = "rbac.authorization.k8s.io";

export const roleExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "roles",
  permit: (write) => permitRole(authorizer, write),
});

export const clusterRoleExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "clusterroles",
  permit: (write) => permitRole(authorizer, write),
});

export const roleBindingExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "rolebindings",
  permit: (write) => permitBinding(server, write),
});

export const clusterRoleBindingExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "clusterrolebindings",
  permit: (write) => permitBinding(server, write),
});

function permitRole(authorizer: ServerContext["authorizer"], write: PermittedWrite): void {
  const { object, request } = write;
  if (isMaster(write) || mayEscalate(authorizer, request) || isGarbageCollection(write)) return;
  // An empty list is null.
  const rules = (object as Role).rules ?? [];
  refuse(write, escalationOf(authorizer, request, rules) ?? aggregationEscalation(authorizer, write));
}

async function permitBinding({ authorizer, objects }: ServerContext, write: PermittedWrite): Promise<void> {
  const { object, request } = write;
  const { roleRef } = object as RoleBinding;
  if (isMaster(write) || isGarbageCollection(write) || mayBind(authorizer, request, roleRef)) return;
  refuse(write, escalationOf(authorizer, request, await rulesOf(objects, roleRef, request)));
}

function isMaster({ request }: PermittedWrite): boolean {
  return request.context.user.groups.includes(MASTERS);
}

function refuse({ object, request }: PermittedWrite, why: string | undefined): void {
  if (why !== undefined) throw forbiddenError({ group: GROUP, plural: request.plural }, object.metadata.name ?? "", why);
}

/** Read from the store: another server may have just created the role. Not-found errors are upstream's. */
async function rulesOf(objects: Objects, { kind, name }: RoleRef, request: ApiRequest): Promise<readonly PolicyRule[]> {
  if (kind !== "ClusterRole" && kind !== "Role") throw new StatusError("Unknown", `unsupported role reference kind: ${quoteGo(kind)}`);
  if (name === "") throw badRequest("Name parameter required.");
  if (kind === "Role" && request.namespace === "") throw badRequest("Namespace parameter required.");
  const [plural, namespace] = kind === "Role" ? ["roles", request.namespace] : ["clusterroles", ""];
  const role = await objects.getExact<Role>({ group: GROUP, plural }, { namespace, name });
  if (role === undefined) throw notFound({ group: GROUP, plural: request.plural }, name);
  return role.rules ?? [];
}
