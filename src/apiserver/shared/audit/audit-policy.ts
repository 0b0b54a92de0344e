/** Decides what the audit policy wants recorded of a request. Pure; upstream's rules. */
import type { AuditedResources, AuditLevel, AuditPolicy, AuditRule, AuditStage } from "../../framework/audit.ts";
import type { AccessAttributes, AccessedResource } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";

/** Attributes of a request for authorization; without a user if authentication failed. */
export interface AuditedAccess extends Omit<AccessAttributes, "user"> {
  readonly user: User | undefined;
}

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

export function auditDecision(policy: AuditPolicy, access: AuditedAccess): AuditDecision {
  const rule = policy.rules.find((each) => matches(each, access));
  return {
    level: rule?.level ?? "None",
    omitStages: new Set([...policy.omitStages, ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? policy.omitManagedFields,
  };
}

function matches(rule: AuditRule, { user, verb, resource, path }: AuditedAccess): boolean {
  const { users, userGroups, verbs, resources, namespaces, nonResourceUrls } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && user?.groups.some((group) => userGroups.includes(group)) !== true) return false;
  if (verbs.length > 0 && !verbs.includes(verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return resource !== undefined && matchesResource(rule, resource);
  if (nonResourceUrls.length > 0) return resource === undefined && nonResourceUrls.some((pattern) => matchesPath(pattern, path));
  return true;
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, "")));
}

function matchesResource({ namespaces, resources }: AuditRule, accessed: AccessedResource): boolean {
  if (namespaces.length > 0 && !namespaces.includes(accessed.namespace)) return false;
  return resources.length === 0 || resources.some((each) => isAmong(each, accessed));
}

function isAmong({ group, resources, resourceNames }: AuditedResources, accessed: AccessedResource): boolean {
  if (group !== "*" && group !== accessed.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(accessed.name)) return false;
  return resources.some((pattern) => matchesName(pattern, accessed));
}

function matchesName(pattern: string, { plural, subresource }: AccessedResource): boolean {
  if (pattern === "*" || pattern === (subresource === "" ? plural : `${plural}/${subresource}`)) return true;
  if (subresource !== "" && pattern === `*/${subresource}`) return true;
  return pattern === `${plural}/*`;
}
