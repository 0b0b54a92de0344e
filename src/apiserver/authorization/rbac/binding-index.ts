/**
 * Indexes bindings by subject: the cost of a request depends on the bindings of its user only. Service accounts are users with a reserved
 * name, so there are only users and groups.
 */
import type { ClusterRoleBinding, RoleBinding, Subject } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { User } from "../../framework/request.ts";
import { innerMap } from "./inner-map.ts";

export type Binding = RoleBinding | ClusterRoleBinding;

/** A binding and its matching subject. */
export interface Mention {
  readonly binding: Binding;
  /** The first matching subject of the binding. */
  readonly subjectIndex: number;
}

/** Keyed by subject, then by the name of the binding. */
type Mentions = Map<string, Map<string, Mention>>;

export class BindingIndex {
  /** The indexed objects, by namespace and name. */
  readonly #bindings = new Map<string, Binding>();
  /** Keyed by namespace; "" for cluster-scoped ones. */
  readonly #mentions = new Map<string, Mentions>();

  put(binding: Binding): void {
    const { namespace = "", name } = binding.metadata;
    this.remove(binding);
    this.#bindings.set(`${namespace}/${name}`, binding);
    for (const [subjectIndex, subject] of (binding.subjects ?? []).entries()) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      const named = innerMap(innerMap(this.#mentions, namespace), key);
      if (!named.has(name)) named.set(name, { binding, subjectIndex });
    }
  }

  /** Removes the binding of this name, if any. */
  remove({ metadata: { namespace = "", name } }: Binding): void {
    const mentions = this.#mentions.get(namespace);
    for (const subject of this.#bindings.get(`${namespace}/${name}`)?.subjects ?? []) {
      const key = subjectKey(subject, namespace) ?? "";
      const named = mentions?.get(key);
      if (named?.delete(name) === true && named.size === 0) mentions?.delete(key);
    }
    if (mentions?.size === 0) this.#mentions.delete(namespace);
    this.#bindings.delete(`${namespace}/${name}`);
  }

  clear(): void {
    this.#bindings.clear();
    this.#mentions.clear();
  }

  /** Returns the bindings of a namespace for a user or one of its groups, sorted by name. */
  of({ name, groups }: User, namespace: string): readonly Mention[] {
    const mentions = this.#mentions.get(namespace);
    if (mentions === undefined) return [];
    const found = new Map(mentions.get(userKey(name)));
    for (const group of groups) {
      for (const [binding, mention] of mentions.get(groupKey(group)) ?? []) {
        const other = found.get(binding);
        if (other === undefined || other.subjectIndex > mention.subjectIndex) found.set(binding, mention);
      }
    }
    return [...found.values()].toSorted((a, b) => (a.binding.metadata.name < b.binding.metadata.name ? -1 : 1));
  }
}

/** undefined: invalid subject. A service account without namespace is in the binding's namespace, if it has one. */
function subjectKey({ kind, name, namespace = "" }: Subject, bindingNamespace: string): string | undefined {
  if (kind === "User") return userKey(name);
  if (kind === "Group") return groupKey(name);
  const home = namespace === "" ? bindingNamespace : namespace;
  return kind === "ServiceAccount" && home !== "" ? userKey(`system:serviceaccount:${home}:${name}`) : undefined;
}

function userKey(name: string): string {
  return `user ${name}`;
}

function groupKey(name: string): string {
  return `group ${name}`;
}
