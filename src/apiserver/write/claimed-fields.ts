/**
 * The owners of the fields of a written object: computed on first use, before admission changes the object. A webhook or policy may replace
 * them; as upstream, replaced entries are kept only if they are valid after the last plugin, otherwise the client gets a warning.
 */
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { ManagedFieldsEntry } from "../../api/machinery/object.ts";
import type { AdmittedOwners } from "../framework/admission.ts";
import type { RequestContext } from "../framework/request.ts";

export class ClaimedFields implements AdmittedOwners {
  readonly #compute: () => ManagedFields;
  #computed: ManagedFields | undefined;
  #replaced: readonly ManagedFieldsEntry[] | undefined;

  constructor(compute: () => ManagedFields) {
    this.#compute = compute;
  }

  entries(): readonly ManagedFieldsEntry[] {
    return this.#replaced ?? this.#owners().entries();
  }

  replace(entries: readonly ManagedFieldsEntry[]): void {
    this.#replaced = entries;
  }

  /** The owners to store, after the last mutating plugin. */
  settle(context: Pick<RequestContext, "warn">): ManagedFields {
    const replaced = this.#replaced;
    if (replaced === undefined) return this.#owners();
    try {
      return (this.#computed = ManagedFields.fromEntries(replaced));
    } catch (error) {
      context.warn(invalidAfterAdmission(error));
      return this.#owners();
    } finally {
      this.#replaced = undefined;
    }
  }

  #owners(): ManagedFields {
    return (this.#computed ??= this.#compute());
  }
}

/** Upstream's text. */
function invalidAfterAdmission(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const cause = "this could be caused by an outdated mutating admission controller; please fix your requests";
  return `.metadata.managedFields was in an invalid state after admission; ${cause}: ${reason}`;
}
