/** What admission plugins ask of a request, and how they refuse it. */
import { forbiddenError, type ResourceName, type StatusError } from "../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../framework/admission.ts";

/** Whether it is about objects of this resource, or one of their subresources. */
export function isOf({ endpoint: { name } }: AdmissionRequest, { group, plural }: ResourceName): boolean {
  return name.plural === plural && name.group === group;
}

/** Upstream's refusal, with the best name there is for an object that may have none yet. */
export function refused({ endpoint, name, object }: AdmissionRequest, why: string): StatusError {
  // What is sent to a connection has no metadata, whatever the type says.
  const metadata = object?.metadata as Partial<NonNullable<typeof object>["metadata"]> | undefined;
  return forbiddenError(endpoint.name, name || metadata?.name || metadata?.generateName || "Unknown", why);
}
