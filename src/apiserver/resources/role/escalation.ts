/**
 * Prevents privilege escalation: writing a role requires all its permissions, or the verb "escalate"; binding one requires all permissions
 * of the role, or the verb "bind" on it. Members of system:masters have all. Messages are upstream's.
 */
import type { ClusterRole, PolicyRule, RoleRef } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { describeParts, missingParts, quoteAll } from "../../../api/rbac.authorization.k8s.io/v1/rule-covering.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Authorizer } from "../../framework/authorization.ts";
import type { PermittedWrite } from "../../framework/extension.ts";
import type { ApiRequest } from "../../framework/request.ts";

/** The rule that grants everything. */
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** Not-found errors of roles. For a write, upstream names the written resource instead. */
const MISSING_ROLE = /\b(?:cluster)?role\.(rbac\.authorization\.k8s\.io ")/g;

/** True if the write changes only fields of the garbage collector, which must work without these permissions. */
export function isGarbageCollection({ object, previous }: PermittedWrite): boolean {
  if (previous === undefined) return false;
  const { ownerReferences, finalizers, managedFields } = previous.metadata;
  return deepEqual({ ...object, metadata: { ...object.metadata, ownerReferences, finalizers, managedFields } }, previous);
}

export function mayEscalate(authorizer: Authorizer, { context, group, plural, namespace, name }: ApiRequest): boolean {
  const resource = { group, version: "*", plural, subresource: "", namespace, name };
  return authorizer.authorize({ user: context.user, verb: "escalate", resource, path: "" }).allowed;
}

/** Checked in the binding's namespace: a ClusterRole may be bindable in one namespace only. */
export function mayBind(authorizer: Authorizer, { context, namespace }: ApiRequest, { kind, apiGroup = "", name }: RoleRef): boolean {
  if (kind !== "ClusterRole" && kind !== "Role") return false;
  const plural = kind === "Role" ? "roles" : "clusterroles";
  const resource = { group: apiGroup, version: "*", plural, subresource: "", namespace, name };
  return authorizer.authorize({ user: context.user, verb: "bind", resource, path: "" }).allowed;
}

/** Returns why the user may not grant these rules; undefined if they may. */
export function escalationOf(authorizer: Authorizer, request: ApiRequest, wanted: readonly PolicyRule[]): string | undefined {
  const { user } = request.context;
  const { resourceRules, nonResourceRules, evaluationError = "" } = authorizer.rulesFor(user, request.namespace);
  const { parts, isUnfinished } = missingParts([...resourceRules, ...nonResourceRules], wanted);
  if (parts.length === 0 && !isUnfinished) return undefined;
  const who = `user ${quoteGo(user.name)} (groups=${quoteAll(user.groups)})`;
  if (parts.length === 0) return `${who} is attempting to grant too many RBAC permissions to compare with those currently held`;
  const lines = describeParts(parts).join("\n");
  const errors = evaluationError === "" ? "" : `; resolution errors: [${evaluationError.replaceAll(MISSING_ROLE, `${request.plural}.$1`)}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${errors}`;
}

/** An aggregated role can acquire any permission. */
export function aggregationEscalation(authorizer: Authorizer, { object, previous, request }: PermittedWrite): string | undefined {
  if (!hasAggregation(object as ClusterRole) && !hasAggregation(previous as ClusterRole | undefined)) return undefined;
  if (escalationOf(authorizer, request, FULL_AUTHORITY) === undefined) return undefined;
  return "must have cluster-admin privileges to use the aggregationRule";
}

function hasAggregation(role: ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}
