/** All roles and bindings, and the rules they grant to a user. Every change increments `revision` and invalidates computed results. */
import type { ClusterRole, PolicyRule, Role, RoleRef, Subject } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Follower, Objects } from "../../framework/objects.ts";
import type { User } from "../../framework/request.ts";
import { BindingIndex, type Binding, type Mention } from "./binding-index.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The rules of one binding, or why it grants none. */
export type Grant = { readonly source: string; readonly rules: readonly PolicyRule[] } | { readonly error: string };

export class Policy {
  revision = 0;
  readonly #clusterRoles = new Map<string, ClusterRole>();
  readonly #roles = new Map<string, Role>();
  readonly #clusterRoleBindings = new BindingIndex();
  readonly #roleBindings = new BindingIndex();

  /** Resolves when the caches are synced. */
  async follow(objects: Objects): Promise<void> {
    const followers: readonly [plural: string, follower: Follower][] = [
      ["clusterroles", this.#rolesFollower(this.#clusterRoles)],
      ["roles", this.#rolesFollower(this.#roles)],
      ["clusterrolebindings", this.#bindingsFollower(this.#clusterRoleBindings)],
      ["rolebindings", this.#bindingsFollower(this.#roleBindings)],
    ];
    await Promise.all(followers.map(([plural, follower]) => objects.follow({ group: RBAC_GROUP, plural }, follower)));
  }

  /** From ClusterRoleBindings and, in a namespace, its RoleBindings; each sorted by name. */
  grants(user: User, namespace: string): readonly Grant[] {
    const index = namespace === "" ? this.#clusterRoleBindings : this.#roleBindings;
    return index.of(user, namespace).map((mention) => this.#grantOf(mention));
  }

  #grantOf({ binding, subjectIndex }: Mention): Grant {
    const { namespace = "" } = binding.metadata;
    const { roleRef, subjects = [] } = binding;
    const role = this.#role(roleRef, namespace);
    if (typeof role === "string") return { error: role };
    return { source: describeSource(binding, subjects[subjectIndex]), rules: role.rules ?? [] };
  }

  /** The role, or the lookup error. */
  #role({ kind, name }: RoleRef, namespace: string): Role | ClusterRole | string {
    if (kind === "ClusterRole") return this.#clusterRoles.get(name) ?? `clusterrole.${RBAC_GROUP} "${name}" not found`;
    if (kind === "Role") return this.#roles.get(`${namespace}/${name}`) ?? `role.${RBAC_GROUP} "${name}" not found`;
    return `unsupported role reference kind: ${quoteGo(kind)}`;
  }

  #rolesFollower(roles: Map<string, Role | ClusterRole>): Follower {
    return this.#counted({
      put: (role) => void roles.set(roleKey(role), role as Role | ClusterRole),
      remove: (role) => void roles.delete(roleKey(role)),
      reset: () => roles.clear(),
    });
  }

  #bindingsFollower(bindings: BindingIndex): Follower {
    return this.#counted({
      put: (binding) => bindings.put(binding as Binding),
      remove: (binding) => bindings.remove(binding as Binding),
      reset: () => bindings.clear(),
    });
  }

  #counted({ put, remove, reset }: Follower): Follower {
    const count = (): void => void this.revision++;
    return {
      put: (object, previous) => (count(), put(object, previous)),
      remove: (object) => (count(), remove(object)),
      reset: () => (count(), reset()),
    };
  }
}

function roleKey({ metadata: { namespace = "", name } }: KubeObject): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** The namespace follows the name, as in upstream's message. */
function describeSource({ metadata, roleRef }: Binding, subject: Subject | undefined): string {
  const { namespace = "", name } = metadata;
  const what = namespace === "" ? `ClusterRoleBinding ${quoteGo(name)}` : `RoleBinding ${quoteGo(`${name}/${namespace}`)}`;
  return `${what} of ${roleRef.kind} ${quoteGo(roleRef.name)} to ${describeSubject(subject, namespace)}`;
}

function describeSubject(subject: Subject | undefined, bindingNamespace: string): string {
  const { kind = "", name = "", namespace = "" } = subject ?? {};
  if (kind !== "ServiceAccount") return `${kind} ${quoteGo(name)}`;
  return `${kind} ${quoteGo(`${name}/${namespace === "" ? bindingNamespace : namespace}`)}`;
}
