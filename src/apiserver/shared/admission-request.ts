/** Helpers of admission plugins: matching requests and rejecting them. */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import { forbiddenError, type ResourceName, type StatusError } from "../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../framework/admission.ts";

/** True if the request is for objects of this resource, or one of their subresources. */
export function isOf({ endpoint: { name } }: AdmissionRequest, { group, plural }: ResourceName): boolean {
  return name.plural === plural && name.group === group;
}

/** A create of the object itself. */
export type CreateOf<T extends KubeObject> = AdmissionRequest & { readonly operation: "CREATE"; readonly object: T };

/** An update of the object, or of a subresource that is a part of it. */
export type UpdateOf<T extends KubeObject> = AdmissionRequest & {
  readonly operation: "UPDATE";
  readonly object: T;
  readonly oldObject: T;
};

/** Narrows to a create of an object of this resource. For resources that are served in one version, whose type the definition has. */
export function isCreateOf<T extends KubeObject>(request: AdmissionRequest, resource: Resource<T>): request is CreateOf<T> {
  return request.operation === "CREATE" && request.subresource === "" && isDefinedBy(request, resource);
}

/** Narrows to an update of an object of this resource; `subresource`: by the path of one of its parts. */
export function isUpdateOf<T extends KubeObject>(
  request: AdmissionRequest,
  resource: Resource<T>,
  subresource = "",
): request is UpdateOf<T> {
  return request.operation === "UPDATE" && request.subresource === subresource && isDefinedBy(request, resource);
}

function isDefinedBy({ endpoint: { name } }: AdmissionRequest, { plural, storage }: Resource): boolean {
  return name.plural === plural && name.group === storage.group;
}

/** Upstream's Forbidden error, with the best available name for an object that may have none yet. */
export function refused({ endpoint, name, object }: AdmissionRequest, why: string): StatusError {
  // The object of a CONNECT request has no metadata, whatever the type says.
  const metadata = object?.metadata as Partial<NonNullable<typeof object>["metadata"]> | undefined;
  return forbiddenError(endpoint.name, name || metadata?.name || metadata?.generateName || "Unknown", why);
}
