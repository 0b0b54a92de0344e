/** Objects of one kind in memory, by namespace and ordered by name: for admission, which reads them at every write. */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Follower } from "../framework/objects.ts";

export class ByNamespace<T> implements Follower {
  readonly #objects = new Map<string, readonly KubeObject[]>();

  /** Empty for most namespaces. */
  of(namespace: string): readonly T[] {
    return (this.#objects.get(namespace) ?? []) as readonly unknown[] as readonly T[];
  }

  put(object: KubeObject): void {
    const others = this.#without(object);
    const all = [...others, object].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    this.#objects.set(object.metadata.namespace ?? "", all);
  }

  remove(object: KubeObject): void {
    const others = this.#without(object);
    if (others.length === 0) this.#objects.delete(object.metadata.namespace ?? "");
    else this.#objects.set(object.metadata.namespace ?? "", others);
  }

  reset(): void {
    this.#objects.clear();
  }

  #without({ metadata }: KubeObject): readonly KubeObject[] {
    const known = this.#objects.get(metadata.namespace ?? "") ?? [];
    return known.filter((other) => other.metadata.name !== metadata.name);
  }
}
