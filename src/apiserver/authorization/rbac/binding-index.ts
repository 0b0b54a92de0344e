/**
 * Bindings of one kind, found by whom they are for: a request costs as much as its user has bindings, however many others have.
 * Service accounts are users with names of their own, so there are users and groups.
 */
import type { ClusterRoleBinding, RoleBinding, Subject } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { User } from "../../framework/request.ts";
import { innerMap } from "./inner-map.ts";

export type Binding = RoleBinding | ClusterRoleBinding;

/** A binding that is for somebody, and as which of its subjects. */
export interface Mention {
  readonly binding: Binding;
  /** The first of the binding's subjects that is meant. */
  readonly subjectIndex: number;
}

/** By subject, by the name of the binding. */
type Mentions = Map<string, Map<string, Mention>>;

export class BindingIndex {
  /** As they were put, by namespace and name. */
  readonly #bindings = new Map<string, Binding>();
  /** By namespace; "" for those that are in none. */
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

  /** Whatever there is of that name. */
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

  /** All of a namespace that are for a user or one of its groups, by name. */
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

/** undefined: nobody is meant. A service account that is in no namespace is in that of the binding, if that is in one. */
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
