/**
 * Shared by RoleBinding and ClusterRoleBinding: subjects, an immutable role reference, and table columns.
 *
 * The role is immutable: a user who may change the subjects could otherwise grant permissions that they never had.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changedItems, withChanges } from "../../changes.ts";
import type { RoleRef, Subject } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { child, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { validateDnsSubdomain, validatePathSegmentName } from "../../machinery/names.ts";
import type { KubeObject } from "../../machinery/object.ts";
import type { Column } from "../../machinery/resource.ts";

const GROUP = "rbac.authorization.k8s.io";

export interface Binding extends KubeObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

export interface BindingRules {
  /** Kinds of roles that it can reference. */
  readonly roleKinds: readonly string[];
  /** Within a namespace, a service account may omit its own. */
  readonly namespaced: boolean;
}

/** Users and groups are of RBAC's API group, service accounts of the core group, which is empty. */
export function defaultBinding<T extends Binding>(binding: T): T {
  const { roleRef, subjects } = binding;
  const { apiGroup = "" } = roleRef;
  return withChanges<Binding>(binding, {
    roleRef: apiGroup === "" ? { ...roleRef, apiGroup: GROUP } : roleRef,
    subjects: changedItems(subjects, defaultSubject),
  }) as T;
}

function defaultSubject(subject: Subject): Subject {
  const isOurs = subject.kind === "User" || subject.kind === "Group";
  return isOurs && (subject.apiGroup ?? "") === "" ? { ...subject, apiGroup: GROUP } : subject;
}

export function* validateBinding({ roleRef, subjects = [] }: Binding, rules: BindingRules): Iterable<FieldError> {
  yield* validateRoleRef(roleRef, rules.roleKinds);
  for (const [index, subject] of subjects.entries()) yield* validateSubject(subject, element("subjects", index), rules);
}

function* validateRoleRef({ apiGroup = "", kind, name }: RoleRef, kinds: readonly string[]): Iterable<FieldError> {
  if (apiGroup !== GROUP) yield notSupported("roleRef.apiGroup", apiGroup, [GROUP]);
  if (!kinds.includes(kind)) yield notSupported("roleRef.kind", kind, kinds);
  if (name === "") yield required("roleRef.name");
  else for (const wrong of validatePathSegmentName(name)) yield invalid("roleRef.name", name, wrong);
}

function* validateSubject(subject: Subject, at: string, { namespaced }: BindingRules): Iterable<FieldError> {
  const { kind, apiGroup = "", name, namespace = "" } = subject;
  if (name === "") yield required(child(at, "name"));
  if (kind === "ServiceAccount") {
    if (name !== "") for (const wrong of validateDnsSubdomain(name)) yield invalid(child(at, "name"), name, wrong);
    if (apiGroup !== "") yield notSupported(child(at, "apiGroup"), apiGroup, [""]);
    if (!namespaced && namespace === "") yield required(child(at, "namespace"));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== GROUP) yield notSupported(child(at, "apiGroup"), apiGroup, [GROUP]);
  } else {
    yield notSupported(child(at, "kind"), kind, ["ServiceAccount", "User", "Group"]);
  }
}

export function* validateSameRole({ roleRef }: Binding, previous: Binding): Iterable<FieldError> {
  if (deepEqual(roleRef, previous.roleRef)) return;
  const { apiGroup = "", kind, name } = roleRef;
  yield invalid("roleRef", { APIGroup: apiGroup, Kind: kind, Name: name }, "cannot change roleRef");
}

export function bindingColumns<T extends Binding>(): readonly Column<T>[] {
  return [
    nameColumn,
    textColumn("Role", "Bound role", ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
    ageColumn,
    subjectsColumn("Users", "Subjects of kind User", "User", ({ name }) => name),
    subjectsColumn("Groups", "Subjects of kind Group", "Group", ({ name }) => name),
    subjectsColumn(
      "ServiceAccounts",
      "Subjects of kind ServiceAccount",
      "ServiceAccount",
      ({ name, namespace = "" }) => `${namespace}/${name}`,
    ),
  ];
}

function subjectsColumn<T extends Binding>(
  columnName: string,
  description: string,
  kind: string,
  show: (subject: Subject) => string,
): Column<T> {
  const value = ({ subjects = [] }: T): string =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(show)
      .join(", ");
  return textColumn(columnName, description, value, { priority: 1 });
}
