/** Which webhooks or policies of a request were called before a change, and must be called again in the second round of mutation. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Reinvocation } from "../../framework/admission.ts";

export class CalledBefore {
  /** The object after the last call. */
  output: KubeObject | undefined;
  #called = new Set<string>();
  readonly #required = new Set<string>();

  /** The state of a plugin for one request. */
  static of(reinvocation: Reinvocation | undefined, plugin: string): CalledBefore {
    const known = reinvocation?.state.get(plugin) as CalledBefore | undefined;
    const state = known ?? new CalledBefore();
    reinvocation?.state.set(plugin, state);
    return state;
  }

  called(id: string): void {
    this.#called.add(id);
  }

  /** After a change, those called before it must see it. */
  requireAll(): void {
    for (const id of this.#called) this.#required.add(id);
    this.#called = new Set();
  }

  isRequired(id: string): boolean {
    return this.#required.has(id);
  }
}
