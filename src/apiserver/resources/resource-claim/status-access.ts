/**
 * Authorizes parts of a claim's status, beyond permission for the status: the allocation is the scheduler's, and the device status is the
 * driver's, preferably from the node of the devices. The permissions are on the virtual subresources resourceclaims/binding and
 * resourceclaims/driver. Missing ones are reported as field errors, as upstream.
 */
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  ResourceClaim,
  ResourceClaimStatus,
} from "../../../api/generated/resource.k8s.io/v1.ts";
import { forbidden, type FieldError } from "../../../api/machinery/field-error.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AccessedResource, Authorizer } from "../../framework/authorization.ts";
import type { CheckedWrite } from "../../framework/extension.ts";
import { forbiddenAccess } from "../../framework/access/forbidden-message.ts";
import type { ApiRequest } from "../../framework/request.ts";
import { isOnNode } from "../../shared/service-account-identity.ts";

/** Verb prefixes: for users on the claim's node, and for users anywhere. */
const ASSOCIATED_NODE = "associated-node:";
const ARBITRARY_NODE = "arbitrary-node:";

export function* validateStatusAccess(authorizer: Authorizer, { object, previous, request }: CheckedWrite): Iterable<FieldError> {
  const { status = {} } = object as ResourceClaim;
  const { status: before = {} } = previous as ResourceClaim;
  yield* validateBindingAccess(authorizer, request, status, before);
  // Without an allocation there is no device status, so no permission is needed.
  if (status.allocation !== undefined) yield* validateDriverAccess(authorizer, request, status, before);
}

function* validateBindingAccess(
  authorizer: Authorizer,
  request: ApiRequest,
  next: ResourceClaimStatus,
  before: ResourceClaimStatus,
): Iterable<FieldError> {
  if (deepEqual(next.allocation, before.allocation) && deepEqual(next.reservedFor ?? [], before.reservedFor ?? [])) return;
  const { verb } = request;
  // For all claims: the scheduler allocates cluster-wide.
  const why = whyNot(authorizer, request, verb, { subresource: "binding", namespace: "", name: "" });
  if (why === undefined) return;
  const what = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
  yield forbidden("status.allocation", `${what}: ${why}`);
}

/** The checked name is the driver's. One of the verbs suffices. */
function* validateDriverAccess(
  authorizer: Authorizer,
  request: ApiRequest,
  next: ResourceClaimStatus,
  before: ResourceClaimStatus,
): Iterable<FieldError> {
  const { verb, namespace, context } = request;
  const isThere = isOnNode(context.user, nodeOf(next.allocation));
  const verbs = [...(isThere ? [`${ASSOCIATED_NODE}${verb}`] : []), `${ARBITRARY_NODE}${verb}`];
  for (const driver of changedDrivers(next.devices ?? [], before.devices ?? [])) {
    const why = verbs.map((each) => whyNot(authorizer, request, each, { subresource: "driver", namespace, name: driver }));
    if (why.includes(undefined)) continue;
    const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission`;
    yield forbidden("status.devices", `${what}: ${why[0]}`);
  }
}

/** undefined: allowed. */
function whyNot(
  authorizer: Authorizer,
  { group, version, plural, context }: ApiRequest,
  verb: string,
  where: Pick<AccessedResource, "subresource" | "namespace" | "name">,
): string | undefined {
  const access = { user: context.user, verb, path: "", resource: { group, version, plural, ...where } };
  const { allowed, reason = "", evaluationError = "" } = authorizer.authorize(access);
  if (allowed) return undefined;
  return forbiddenAccess(access, [evaluationError, reason].filter((part) => part !== "").join(": ")).message;
}

/** Drivers whose device status was added, changed or removed; sorted. */
function changedDrivers(next: readonly AllocatedDeviceStatus[], before: readonly AllocatedDeviceStatus[]): readonly string[] {
  const gone = new Map(before.map((device) => [keyOf(device), device]));
  const drivers = new Set<string>();
  for (const device of next) {
    if (!deepEqual(gone.get(keyOf(device)), device)) drivers.add(device.driver);
    gone.delete(keyOf(device));
  }
  for (const { driver } of gone.values()) drivers.add(driver);
  return [...drivers].toSorted();
}

function keyOf({ driver, pool, device, shareID = "" }: AllocatedDeviceStatus): string {
  return JSON.stringify([driver, pool, device, shareID]);
}

/** The node of the devices, if the allocation selects exactly one by name; otherwise "". */
function nodeOf(allocation: AllocationResult | undefined): string {
  const [term, ...otherTerms] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [field, ...otherFields] = term?.matchFields ?? [];
  const isAlone = otherTerms.length === 0 && otherFields.length === 0 && (term?.matchExpressions ?? []).length === 0;
  const [node = "", ...otherNodes] = field?.values ?? [];
  return isAlone && field?.key === "metadata.name" && field.operator === "In" && otherNodes.length === 0 ? node : "";
}
