/**
 * Who may do something, by the RBAC objects that the user can read: the rules of upstream's RBAC authorizer, turned around. Other
 * authorizers (nodes, webhooks) and the group system:masters, which RBAC never asks about, are not part of it. Pure.
 */

export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface RoleObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[] | null;
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface BindingObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly Subject[] | null;
}

export interface Policy {
  readonly roles: readonly RoleObject[];
  readonly clusterRoles: readonly RoleObject[];
  readonly roleBindings: readonly BindingObject[];
  readonly clusterRoleBindings: readonly BindingObject[];
}

export interface Question {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: "pods/log". */
  readonly resource: string;
  /** "": in all namespaces, or a cluster-scoped resource. */
  readonly namespace: string;
  /** "": any object. */
  readonly name: string;
}

export interface Grant {
  readonly subject: Subject;
  readonly binding: { readonly kind: "RoleBinding" | "ClusterRoleBinding"; readonly name: string; readonly namespace: string };
  readonly role: { readonly kind: string; readonly name: string; readonly namespace: string };
  /** Objects that it is limited to; empty: all. */
  readonly names: readonly string[];
}

/** In the order of subjects. A grant for named objects only counts if the question names one of them or none. */
export function whoCan(policy: Policy, question: Question): readonly Grant[] {
  const clusterRoles = new Map(policy.clusterRoles.map((role) => [role.metadata.name, role]));
  const roles = new Map(policy.roles.map((role) => [`${role.metadata.namespace ?? ""}/${role.metadata.name}`, role]));
  const grants: Grant[] = [];
  const add = (kind: Grant["binding"]["kind"], { metadata, roleRef, subjects }: BindingObject): void => {
    const { namespace = "" } = metadata;
    const isCluster = roleRef.kind === "ClusterRole";
    const role = isCluster ? clusterRoles.get(roleRef.name) : roles.get(`${namespace}/${roleRef.name}`);
    const names = (role?.rules ?? []).map((rule) => allowedNames(rule, question)).find((found) => found !== undefined);
    if (names === undefined) return;
    for (const subject of subjects ?? [])
      grants.push({
        ...{ subject: withNamespace(subject, namespace), names },
        binding: { kind, name: metadata.name, namespace },
        role: { kind: roleRef.kind, name: roleRef.name, namespace: isCluster ? "" : namespace },
      });
  };
  for (const binding of policy.clusterRoleBindings) add("ClusterRoleBinding", binding);
  // A RoleBinding grants in its namespace only.
  for (const binding of policy.roleBindings)
    if (question.namespace !== "" && binding.metadata.namespace === question.namespace) add("RoleBinding", binding);
  return grants.sort((a, b) => (subjectText(a.subject) < subjectText(b.subject) ? -1 : 1));
}

/** A ServiceAccount without a namespace is of the binding's. */
function withNamespace(subject: Subject, namespace: string): Subject {
  return subject.kind === "ServiceAccount" && subject.namespace === undefined ? { ...subject, namespace } : subject;
}

/** Undefined: the rule does not allow it. Otherwise the names that it is limited to. */
export function allowedNames(rule: PolicyRule, { verb, group, resource, name }: Question): readonly string[] | undefined {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (!has(verbs, verb) || !has(apiGroups, group) || !matchesResource(resources, resource)) return undefined;
  if (resourceNames.length === 0) return [];
  if (name !== "") return resourceNames.includes(name) ? [name] : undefined;
  return resourceNames;
}

function has(list: readonly string[], wanted: string): boolean {
  return list.includes("*") || list.includes(wanted);
}

/** "*" is every resource with every subresource; "pods" is not "pods/log"; "*\/log" is the subresource of every resource. */
function matchesResource(list: readonly string[], resource: string): boolean {
  if (has(list, resource)) return true;
  const [, subresource] = resource.split("/");
  return subresource !== undefined && list.includes(`*/${subresource}`);
}

export function subjectText({ kind, name, namespace = "" }: Subject): string {
  return kind === "ServiceAccount" ? `ServiceAccount ${namespace}/${name}` : `${kind} ${name}`;
}
