/** Helpers of admission plugins: matching requests and rejecting them. */
import { forbiddenError, type ResourceName, type StatusError } from "../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../framework/admission.ts";

/** True if the request is for objects of this resource, or one of their subresources. */
export function isOf({ endpoint: { name } }: AdmissionRequest, { group, plural }: ResourceName): boolean {
  return name.plural === plural && name.group === group;
}

/** Upstream's Forbidden error, with the best available name for an object that may have none yet. */
export function refused({ endpoint, name, object }: AdmissionRequest, why: string): StatusError {
  // The object of a CONNECT request has no metadata, whatever the type says.
  const metadata = object?.metadata as Partial<NonNullable<typeof object>["metadata"]> | undefined;
  return forbiddenError(endpoint.name, name || metadata?.name || metadata?.generateName || "Unknown", why);
}
