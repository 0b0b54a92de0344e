/**
 * The contract of a group and version whose resources are data, known only while the server runs (custom and external metrics: one resource
 * per metric). Its requests pass the pipeline like all others (authorization, priority and fairness), then its own handler instead of the
 * verbs. Not here: kinds with a definition (extension.ts), other API servers (aggregation).
 */
import type { GroupVersion } from "../../../api/machinery/object.ts";
import type { Verb } from "../../../api/machinery/resource.ts";
import type { Outcome } from "../outcome.ts";
import type { ApiRequest } from "../request.ts";

export interface DynamicApi extends GroupVersion {
  /** Its resources as far as they are known now, for discovery. */
  resources(): readonly DynamicResource[];
  /** Updates the known resources. Called before a client lists them; not before it lists all groups. */
  refresh(): Promise<void>;
  /** Calls back when `resources` has changed. */
  onChange(listener: () => void): void;
  /** Answers an authorized request for a path below the group and version. Throws a StatusError. */
  answer(request: ApiRequest): Promise<Outcome>;
}

/** An entry of discovery. */
export interface DynamicResource {
  /** "pods/http_requests", "queue_length". */
  readonly name: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly Verb[];
}
