/** Which autoscalers select which Pods: two for one Pod would undo each other's decisions. In memory, learned with each reconciliation. */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { ObjectKey } from "../../client/client.ts";

export class SelectorUses {
  /** By namespace, then by name of the autoscaler. An entry is removed with its object. */
  readonly #byNamespace = new Map<string, Map<string, LabelSelector>>();

  set({ namespace = "", name }: ObjectKey, selector: LabelSelector): void {
    const uses = this.#byNamespace.get(namespace) ?? new Map<string, LabelSelector>();
    this.#byNamespace.set(namespace, uses.set(name, selector));
  }

  remove({ namespace = "", name }: ObjectKey): void {
    const uses = this.#byNamespace.get(namespace);
    uses?.delete(name);
    if (uses?.size === 0) this.#byNamespace.delete(namespace);
  }

  /** Names of the autoscalers of a namespace that select one of these Pods of it. */
  of(namespace: string, pods: readonly Pod[]): readonly string[] {
    const uses = [...(this.#byNamespace.get(namespace) ?? [])];
    return uses
      .filter(([, selector]) => pods.some(({ metadata }) => selector.matches(metadata.labels ?? {})))
      .map(([name]) => name)
      .toSorted();
  }
}
