/** Validation of `/status`, which the kubelet, the scheduler and others write. */
import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodResourceClaimStatus,
  PodSpec,
  PodStatus,
  ResourceStatus,
} from "../../../../generated/core/v1.ts";
import {
  duplicate,
  forbidden,
  immutable,
  internalFieldError,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { parseSloppyIp, unmapIp } from "../../../../machinery/ip/ip-address.ts";
import { validateLegacyIp } from "../../../../machinery/ip/ip-validation.ts";
import { firstByName } from "../containers.ts";
import { dnsLabel, dnsSubdomain, groupId, qualifiedName, userId } from "./checks.ts";
import { validateAnnotationUpdates } from "./update.ts";
import { validatePodAnnotations } from "./annotations.ts";
import { specOf } from "./pod.ts";
import { validateStateTransitions } from "./transitions.ts";

const SYSTEM_CONDITIONS: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);
const HEALTH = ["Healthy", "Unhealthy", "Unknown"];
const HEALTH_MESSAGE_LENGTH_MAX_BYTES = 1_024;

export function validateStatusUpdate(errors: FieldErrors, next: Pod, previous: Pod): void {
  const [status, before] = [next.status ?? {}, previous.status ?? {}];
  const [annotations, annotationsBefore] = [next.metadata.annotations ?? {}, previous.metadata.annotations ?? {}];
  validateAnnotationUpdates(errors, annotations, annotationsBefore);
  if (annotations !== annotationsBefore) validatePodAnnotations(errors, annotations, specOf(next), "metadata.annotations");
  validateConditions(errors, status.conditions ?? [], "status.conditions");
  validateNominatedNode(errors, status, before, specOf(previous));
  if ((status.observedGeneration ?? 0) < 0) {
    errors.add(invalid("status.observedGeneration", status.observedGeneration, "must be a non-negative integer"));
  }
  if (status.qosClass !== before.qosClass) errors.add(immutable("status.qosClass", status.qosClass ?? ""));
  validateStateTransitions(errors, status, before, specOf(previous));
  validateClaimStatuses(errors, status.resourceClaimStatuses ?? [], specOf(next), "status.resourceClaimStatuses");
  if (status.extendedResourceClaimStatus !== undefined) {
    validateExtendedClaim(errors, status.extendedResourceClaimStatus, specOf(next), "status.extendedResourceClaimStatus");
  }
  validateAddresses(errors, status.podIPs ?? [], before.podIPs ?? [], "status.podIPs");
  validateHostAddresses(errors, status, before);
  validateContainerStatuses(errors, status, specOf(next));
}

function validateConditions(errors: FieldErrors, conditions: readonly PodCondition[], at: string): void {
  for (const [index, { type = "", observedGeneration }] of conditions.entries()) {
    if ((observedGeneration ?? 0) < 0) {
      errors.add(invalid(`${at}[${index}].observedGeneration`, observedGeneration, "must be a non-negative integer"));
    }
    if (!SYSTEM_CONDITIONS.has(type)) errors.addAll(qualifiedName(type, `${at}[${index}].Type`));
  }
}

/** The nominated node of an unscheduled Pod. */
function validateNominatedNode(errors: FieldErrors, status: PodStatus, before: PodStatus, spec: PodSpec): void {
  const { nominatedNodeName } = status;
  if (!nominatedNodeName || nominatedNodeName === before.nominatedNodeName) return;
  const at = "status.nominatedNodeName";
  errors.addAll(dnsSubdomain(nominatedNodeName, at));
  if (spec.nodeName) errors.add(forbidden(at, "may not be set on pods that are already bound to a node"));
}

function validateClaimStatuses(errors: FieldErrors, statuses: readonly PodResourceClaimStatus[], spec: PodSpec, at: string): void {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  for (const [index, { name, resourceClaimName }] of statuses.entries()) {
    const here = `${at}[${index}]`;
    if (!known.has(name)) {
      errors.add(invalid(`${here}.name`, name, "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (seen.has(name)) errors.add(duplicate(`${here}.name`, name));
    seen.add(name);
    if (resourceClaimName !== undefined) errors.addAll(dnsSubdomain(resourceClaimName, `${here}.resourceClaimName`));
  }
}

function validateExtendedClaim(
  errors: FieldErrors,
  { requestMappings, resourceClaimName }: PodExtendedResourceClaimStatus,
  spec: PodSpec,
  at: string,
): void {
  const here = `${at}.requestMappings`;
  if ((requestMappings ?? []).length === 0) errors.add(required(here, "at least one request mapping is required"));
  const containers = firstByName([...(spec.containers ?? []), ...(spec.initContainers ?? [])]);
  const seen = new Set<string>();
  for (const [index, mapping] of (requestMappings ?? []).entries()) {
    const { containerName, resourceName, requestName } = mapping;
    validateMappedContainer(errors, containers, mapping, `${here}[${index}]`);
    errors.addAll(dnsLabel(requestName ?? "", `${at}.requestName`));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      for (const member of ["containerName", "resourceName", "requestName"] as const) {
        errors.add(duplicate(`${here}[${index}].${member}`, mapping[member]));
      }
    }
    seen.add(key);
  }
  if (!resourceClaimName) errors.add(required(`${at}.resourceClaimName`));
  else errors.addAll(dnsSubdomain(resourceClaimName, `${at}.resourceClaimName`));
}

function validateMappedContainer(
  errors: FieldErrors,
  containers: ReadonlyMap<string, Container>,
  { containerName, resourceName }: { readonly containerName: string; readonly resourceName: string },
  at: string,
): void {
  const container = containers.get(containerName);
  if (container === undefined) {
    const why = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
    return errors.add(invalid(`${at}.containerName`, containerName, why));
  }
  if (Object.hasOwn(container.resources?.requests ?? {}, resourceName)) return;
  const why =
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests";
  errors.add(invalid(`${at}.resourceName`, resourceName, why));
}

interface Address {
  readonly ip: string;
}

/** At most one of each IP family. Existing addresses remain valid. */
function validateAddresses(errors: FieldErrors, addresses: readonly Address[], before: readonly Address[], at: string): void {
  const previous = new Set(before.map(({ ip }) => ip));
  for (const [index, { ip = "" }] of addresses.entries()) {
    if (previous.has(ip)) continue;
    for (const problem of validateLegacyIp(ip, { strict: true })) errors.add(invalid(`${at}[${index}]`, ip, problem));
  }
  if (addresses.length < 2) return;
  const families = addresses.map(({ ip }) => familyOf(ip));
  const unknown = families.indexOf(undefined);
  if (unknown !== -1) {
    errors.add(internalFieldError(at, `failed to check for dual stack with error:invalid IP[${unknown}]: ${addresses[unknown]?.ip ?? ""}`));
  } else if (families.length === 2 && families[0] !== families[1]) return;
  const shown = addresses.map(({ ip }) => ({ IP: ip }));
  errors.add(invalid(at, shown, "may specify no more than one IP for each IP family"));
}

/** An IPv4-mapped IPv6 address is of family IPv4. */
function familyOf(ip: string): number | undefined {
  const address = parseSloppyIp(ip);
  return address && unmapIp(address).family;
}

function validateHostAddresses(errors: FieldErrors, { hostIP, hostIPs = [] }: PodStatus, before: PodStatus): void {
  const [first] = hostIPs;
  if (first === undefined) return;
  if ((hostIP ?? "") !== first.ip) errors.add(invalid("status.hostIPs[0].ip", first.ip, "must be equal to `hostIP`"));
  validateAddresses(errors, hostIPs, before.hostIPs ?? [], "status.hostIPs");
}

function validateContainerStatuses(errors: FieldErrors, status: PodStatus, spec: PodSpec): void {
  for (const member of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    for (const [index, each] of (status[member] ?? []).entries()) validateUser(errors, each, spec, `status.${member}[${index}].user.linux`);
  }
  for (const [member, containers] of [
    ["containerStatuses", spec.containers],
    ["initContainerStatuses", spec.initContainers],
  ] as const) {
    const byName = firstByName(containers ?? []);
    for (const [index, each] of (status[member] ?? []).entries()) {
      validateAllocated(
        errors,
        each.allocatedResourcesStatus ?? [],
        byName.get(each.name),
        `status.${member}[${index}].allocatedResourcesStatus`,
      );
    }
  }
  for (const [index, { allocatedResourcesStatus }] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if ((allocatedResourcesStatus ?? []).length === 0) continue;
    const at = `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`;
    errors.add(forbidden(at, "must not be specified in container status"));
  }
}

function validateUser(errors: FieldErrors, { user }: ContainerStatus, spec: PodSpec, at: string): void {
  if (user?.linux === undefined) return;
  if (spec.os?.name === "windows") return errors.add(forbidden(at, "cannot be set for a windows pod"));
  const { uid, gid, supplementalGroups } = user.linux;
  errors.addAll(userId(uid, `${at}.uid`));
  errors.addAll(groupId(gid, `${at}.gid`));
  for (const [index, group] of (supplementalGroups ?? []).entries()) errors.addAll(groupId(group, `${at}.supplementalGroups[${index}]`));
}

/** Health of the devices of a container. */
function validateAllocated(errors: FieldErrors, statuses: readonly ResourceStatus[], container: Container | undefined, at: string): void {
  const claims = new Set((container?.resources?.claims ?? []).map(({ name, request }) => `claim:${name}${request ? `/${request}` : ""}`));
  for (const [index, { name, resources }] of statuses.entries()) {
    if (container !== undefined) validateAllocatedName(errors, name, container, claims, `${at}[${index}].name`);
    const seen = new Set<string>();
    for (const [position, { resourceID, health = "", message }] of (resources ?? []).entries()) {
      const here = `${at}[${index}].resources[${position}]`;
      if (!HEALTH.includes(health)) errors.add(notSupported(`${here}.health`, health, HEALTH));
      if (message === "") errors.add(required(`${here}.message`, "must be non-empty if specified"));
      else if (message !== undefined && new TextEncoder().encode(message).length > HEALTH_MESSAGE_LENGTH_MAX_BYTES) {
        errors.add(tooLong(`${here}.message`, HEALTH_MESSAGE_LENGTH_MAX_BYTES));
      }
      if (seen.has(resourceID)) errors.add(duplicate(`${here}.resourceID`, resourceID));
      seen.add(resourceID);
    }
  }
}

function validateAllocatedName(errors: FieldErrors, name: string, { resources }: Container, claims: ReadonlySet<string>, at: string): void {
  if (!name.startsWith("claim:")) {
    if (!Object.hasOwn(resources?.requests ?? {}, name))
      errors.add(invalid(at, name, "must match one of the container's resource requests"));
    return;
  }
  if (claims.has(name)) return;
  const why =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  errors.add(invalid(at, name, why));
}
