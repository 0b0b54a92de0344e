/**
 * What happens to one request on its way through the server, collected for the explain API: its id, the admission plugins that changed the
 * object, and the one that refused it. Mutable, and owned by one request.
 */
import type { AdmissionStep } from "../../../explain/explain-api.ts";

export class RequestTrail {
  /** Absent: no plugin has changed the object. */
  steps: AdmissionStep[] | undefined;
  /** The admission plugin that refused the request. */
  refusedBy: string | undefined;
  #id: string | undefined;
  readonly #newId: () => string;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** `Audit-Id` of the request; in process, a name of the same purpose. Created on first access: most reads need none. */
  get id(): string {
    return (this.#id ??= this.#newId());
  }
}
