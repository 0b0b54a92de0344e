/** A RoleBinding or ClusterRoleBinding that grants nothing, since its role does not exist. */
import type { Seen, Subject } from "../cluster-view.ts";
import { defineExplainer, found, nameOf, subjectOf, type ExplainContext, type Explanation, type Manifest } from "../explainer.ts";
import { similarName } from "../facts/similar-name.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLES: Readonly<Record<string, string>> = { Role: `roles.${GROUP}`, ClusterRole: `clusterroles.${GROUP}` };
const BINDINGS: Readonly<Record<string, string>> = {
  [`rolebindings.${GROUP}`]: "RoleBinding",
  [`clusterrolebindings.${GROUP}`]: "ClusterRoleBinding",
};

export const roleBinding = defineExplainer({
  resources: Object.keys(BINDINGS),
  explain(binding, subject, { view }) {
    const { kind, name } = binding.roleRef;
    const resource = ROLES[kind] ?? "";
    const role: Subject = { resource, namespace: kind === "Role" ? subject.namespace : "", name };
    if (view.get(role) !== undefined) return undefined;
    const names = view.list(resource, role.namespace).map(({ metadata }) => String(metadata.name));
    const similar = similarName(name, names);
    const hint = similar === undefined ? "" : `; a similar name exists: ${similar}`;
    const finding = {
      text: `${nameOf(subject)} grants nothing`,
      because: [{ text: `${kind} ${name} does not exist${hint}`, root: "MissingRole" }],
    };
    return found(
      finding,
      similar === undefined ? [] : [{ text: `Bind the ${kind} ${similar}`, changes: replaced(binding, subject, similar) }],
    );
  },
});

/** The role of a binding cannot be changed, so the binding is created again. */
function replaced(binding: Seen, subject: Subject, role: string) {
  const { namespace, name, labels } = binding.metadata;
  const object: Manifest = {
    apiVersion: `${GROUP}/v1`,
    kind: BINDINGS[subject.resource] ?? "",
    metadata: { ...(namespace === undefined ? {} : { namespace }), name, ...(labels === undefined ? {} : { labels }) },
    roleRef: { ...binding.roleRef, name: role },
    subjects: binding.subjects ?? [],
  };
  return [
    { type: "delete", target: subject },
    { type: "create", object },
  ] as const;
}

/** Bindings of a user that grant nothing, in a namespace and in the whole cluster. Groups are not known, except of service accounts. */
export function uselessBindings(user: string, namespace: string, { view, explain }: ExplainContext): readonly Explanation[] {
  return Object.keys(BINDINGS)
    .filter((resource) => view.isReadable(resource, namespace))
    .flatMap((resource) => view.list(resource, resource.startsWith("cluster") ? "" : namespace).map((binding) => ({ resource, binding })))
    .filter(({ binding }) => (binding.subjects ?? []).some((each: Seen) => userOf(each) === user))
    .flatMap(({ resource, binding }) => explain(subjectOf(resource, binding)) ?? []);
}

function userOf({ kind, namespace, name }: Seen): string {
  return kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : kind === "User" ? String(name) : "";
}
