/** Rejection and not-found errors of the plugin, with upstream's messages. */
import { notFound, type StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import { refused } from "../../shared/admission-request.ts";

export function refuse(request: AdmissionRequest, why: string): never {
  throw refused(request, why);
}

export interface MissingObject {
  /** Resource name format of upstream's informer lookups. */
  readonly singular: string;
  readonly group?: string;
  readonly name: string;
}

export function missing({ singular, group = "", name }: MissingObject): StatusError {
  return notFound({ group, plural: singular }, name);
}
