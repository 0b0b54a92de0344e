/** How the plugin says no, and that something is not there: upstream's words. */
import { forbiddenError, notFound, type StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../../admission.ts";

export function refuse({ endpoint, name, object }: AdmissionRequest, why: string): never {
  const { name: own, generateName } = object?.metadata ?? {};
  throw forbiddenError(endpoint.name, name || own || generateName || "Unknown", why);
}

/** Upstream names the resource by its singular where it looks into its own memory. */
export function missing(singular: string, name: string, group = ""): StatusError {
  return notFound({ group, plural: singular }, name);
}
