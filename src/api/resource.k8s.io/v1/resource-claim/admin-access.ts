/**
 * Admin access to devices: access to all of them, also those in use. It is for cluster administrators, so it is only granted in namespaces
 * with a label.
 *
 * These rules need another object, the namespace, so the API server calls them with its labels; the kinds do not.
 */
import type { DeviceRequest, ResourceClaimStatus } from "../../../generated/resource.k8s.io/v1.ts";
import { forbidden, type FieldError } from "../../../machinery/field-error.ts";

const ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access";

type Labels = Readonly<Record<string, string>>;

/** For a new claim or template. Upstream reports the same path for both, without "exactly". */
export function validateAdminAccess(requests: readonly DeviceRequest[] | undefined, namespaceLabels: Labels): Iterable<FieldError> {
  const index = (requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  return index < 0 ? [] : validateLabel(namespaceLabels, `spec.devices.requests[${index}].adminAccess`);
}

/** For a write of a claim's status. Granted access stays granted: an allocation is immutable. */
export function validateAdminAccessOfStatus(
  next: ResourceClaimStatus,
  previous: ResourceClaimStatus,
  namespaceLabels: Labels,
): Iterable<FieldError> {
  if (grantedIndex(previous) >= 0) return [];
  const index = grantedIndex(next);
  return index < 0 ? [] : validateLabel(namespaceLabels, `status.allocation.devices.results[${index}].adminAccess`);
}

function grantedIndex({ allocation }: ResourceClaimStatus): number {
  return (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
}

function* validateLabel(labels: Labels, at: string): Iterable<FieldError> {
  if (Object.hasOwn(labels, ADMIN_ACCESS_LABEL) && labels[ADMIN_ACCESS_LABEL] === "true") return;
  yield forbidden(at, `admin access to devices requires the \`${ADMIN_ACCESS_LABEL}: true\` label on the containing namespace`);
}
