/** How the plugin says no, and that something is not there: upstream's words. */
import { forbiddenError, notFound, type StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../../admission.ts";

export function refuse({ endpoint, name, object }: AdmissionRequest, why: string): never {
  const { name: own, generateName } = object?.metadata ?? {};
  throw forbiddenError(endpoint.name, name || own || generateName || "Unknown", why);
}

export interface MissingObject {
  /** Upstream names a resource so where it looks into its own memory. */
  readonly singular: string;
  readonly group?: string;
  readonly name: string;
}

export function missing({ singular, group = "", name }: MissingObject): StatusError {
  return notFound({ group, plural: singular }, name);
}
