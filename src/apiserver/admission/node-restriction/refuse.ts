/** How the plugin says no, and that something is not there: upstream's words. */
import { notFound, type StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import { refused } from "../../shared/admission-request.ts";

export function refuse(request: AdmissionRequest, why: string): never {
  throw refused(request, why);
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
